"""Language models: one protocol, providers, and wrappers with the same protocol."""
