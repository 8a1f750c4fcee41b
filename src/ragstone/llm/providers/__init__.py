"""Model providers: servers with OpenAI's protocol, litellm, and a user's own code."""
