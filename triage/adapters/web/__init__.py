"""The web search, by Tavily."""
