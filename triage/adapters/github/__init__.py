"""The issue tracker, through PyGithub."""
