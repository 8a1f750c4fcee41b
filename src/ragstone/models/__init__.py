"""Local models: where they live, how they come there, and what runs them. Engines are imported when a model is first used."""
