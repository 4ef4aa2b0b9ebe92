"""Frozen values. They import nothing of the project but each other, and do nothing but hold and derive."""
