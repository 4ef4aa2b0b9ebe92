"""One module for each thing that the action can be asked for."""
