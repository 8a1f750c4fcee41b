"""The shipped example: an invented ferry line's documents, 25 questions and the answers of two versions of a RAG system."""
