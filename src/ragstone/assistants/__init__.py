"""For coding assistants: an MCP server that reads a store, the documentation by section, and the skill folder."""
