"""Pure: a model's edits to files, and what a patch may change."""
