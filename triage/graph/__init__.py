"""The LangGraph graph: state, nodes, routing rules, the wrapper around every node, and the report."""
