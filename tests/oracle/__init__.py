"""A small world whose claims and supports are known by construction, and a server that judges by it."""
