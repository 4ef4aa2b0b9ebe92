"""Door to the issue tracker, through PyGithub."""
