"""Reads documents (txt, md, html, pdf, docx) as sections of text and splits them into passages."""

from ragstone.formats.documents.base import Document, DocumentProblem, Passage, Section, make_passages
from ragstone.formats.documents.read import DocumentSet, read_documents

__all__ = ["Document", "DocumentProblem", "DocumentSet", "Passage", "Section", "make_passages", "read_documents"]
