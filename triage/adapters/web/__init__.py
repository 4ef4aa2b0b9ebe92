"""Door to the web search (Tavily)."""
