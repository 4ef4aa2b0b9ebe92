"""The five agents: each has a schema, a model chain, rules that fill the same schema, and a finding for the state."""
