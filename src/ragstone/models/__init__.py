"""Local models: catalogue, store and runtimes. A runtime is imported when a model is first used."""
