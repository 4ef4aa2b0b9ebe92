"""The five agents. Each is a value: schema, model chain, twin by rules with the same schema, translation."""
