"""Where results go besides GitHub: the files and commands of the Actions runner, a terminal, a server's log."""
