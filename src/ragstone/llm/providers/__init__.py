"""Where replies come from: servers with OpenAI's protocol, litellm, and a user's own function."""
