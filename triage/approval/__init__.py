"""Pure: what a person may approve, and whether what they said is a yes."""
