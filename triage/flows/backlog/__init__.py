"""One module per job of a backlog: list, run, merge."""
