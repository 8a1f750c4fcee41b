"""Example data that ships with the package."""
