"""Documents as people have them (txt, md, html, pdf, docx) as sections of text, and these as passages."""

from ragstone.formats.documents.base import Document, DocumentProblem, Section
from ragstone.formats.documents.chunking import Passage, make_passages
from ragstone.formats.documents.reading import DocumentSet, read_documents

__all__ = ["Document", "DocumentProblem", "DocumentSet", "Passage", "Section", "make_passages", "read_documents"]
