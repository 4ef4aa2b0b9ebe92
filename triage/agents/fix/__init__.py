"""The steps of the fix flow that ask a model: prompts, answers, and what code makes of them."""
