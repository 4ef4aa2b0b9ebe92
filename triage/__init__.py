"""Bug triage: an issue comes in, five agents work on it, one checked report goes out.

The packages, in reading order:

- ``domain``    values: issue, code, findings (the agents' contracts), run, report, effect, task
- ``errors``    what could not be done, and who must mend it
- ``threads``   blocking work beside the event loop, which can be walked away from
- ``signals``   SIGINT and SIGTERM, heard at any moment
- ``network`` ``sessions``   how every client reaches the outside: proxies, certificates, no redirects
- ``ports``     what the core needs from outside, as protocols
- ``reading``   what an issue's text says: visible text, traces, names, what is missing
- ``events``    pure: webhook payload to task, or to the reason for skipping it
- ``checks``    pure: are citations true, is outgoing text inert, what looks like a secret, what the web may be asked
- ``agents``    five agents, each with a model chain and a twin by rules
- ``graph``     the LangGraph graph: state, wrapper, supervisor's law, nodes, finish
- ``publish``   report to effects to the world; comment, summary, diagram
- ``flows``     one module per thing that can be asked for
- ``index``     door: the repository (git objects, tree-sitter, BM25, Chroma)
- ``llm`` ``web`` ``github`` ``runner`` ``telemetry`` ``cache``   doors: the model, the search, GitHub, the Actions
  runner, OpenTelemetry, answers that were paid for
- ``settings``  every input: default, unit, meaning; the project's own settings
- ``wiring``    builds every client once and hands it on
- ``action``    root: the runner's environment to an exit code
- ``cli``       root: the same flows at a terminal (``python -m triage``)
- ``server``    root: the same graph for LangGraph Server (``langgraph.json``)

A run reads: ``action.main``, ``events.route``, ``flows.issue``, ``graph``, ``publish.plan``, ``publish.perform``.
"""

__version__ = "0.1.0"
