"""The HTTP APIs of Langfuse, Phoenix and LangSmith: traces are read, scores are written."""
