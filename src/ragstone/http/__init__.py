"""One pooled HTTP client for models, endpoints and webhooks."""
