"""One module per job of the fix flow: gate, propose, freeze, report, apply."""
