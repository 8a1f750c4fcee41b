"""A real small model on loopback: it judges badly, but its tokens, its JSON and its errors are real."""
