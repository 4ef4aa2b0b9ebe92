"""The language model: any OpenAI-compatible endpoint, with a budget, retries and a fallback model."""
