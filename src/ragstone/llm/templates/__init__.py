"""How a bare model is asked a question, with passages or without; a user's own file takes their place."""
