"""The local repository at a terminal: a branch without touching the work tree, and checks in a temporary work tree."""
