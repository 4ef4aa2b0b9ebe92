"""Bug triage: an issue comes in, up to five agents work on it, one checked report goes out.

`action` shows what happens to an event: read, route, work, write. A run follows `action.handle_event`,
`run.may_run.route`, `run.triage_issue`, `graph.run_graph`, `run.write.plan_effects`, `run.write.apply_effects`.
`CONTRIBUTING.md` describes the packages.
"""

__version__ = "2.0.0"
