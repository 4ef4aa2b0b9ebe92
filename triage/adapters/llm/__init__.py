"""Door to the language model: any OpenAI-compatible endpoint, under budget, retry and fallback."""
