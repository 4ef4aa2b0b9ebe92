"""A made-up web shop with a bug, for the pictures of the pages: `python -m shop` shows it."""
