"""Bug triage: an issue comes in, five agents work on it, one checked report goes out.

`action` shows what happens to an event: read, route, work, write. A run follows `action.handle_event`,
`events.route`, `jobs.triage_issue`, `graph.run_graph`, `writes.plan_effects`, `writes.apply_effects`.
`CONTRIBUTING.md` describes the packages.
"""

__version__ = "1.0.0"
