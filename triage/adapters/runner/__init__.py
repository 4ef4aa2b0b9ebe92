"""Door to where results go besides GitHub: the Actions runner's files and commands, or a terminal."""
