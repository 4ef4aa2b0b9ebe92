"""The graph: state, the wrapper around every node, the supervisor's law, the nodes, the end. Home of LangGraph."""
