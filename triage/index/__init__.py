"""Door: the repository (git objects, tree-sitter, BM25, Chroma)."""
