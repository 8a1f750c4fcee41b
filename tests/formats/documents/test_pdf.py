"""Text of PDF pages."""

import pytest

from ragstone.formats.documents.base import UnreadableError
from ragstone.formats.documents.pdf import read_pdf
from tests.formats.documents.making import make_pdf


def test_one_section_per_page_and_a_note_on_pages_without_text():
    pages = read_pdf(make_pdf(["First page.", None, "Third page."]))
    assert [(section.page, section.text) for section in pages.sections] == [(1, "First page."), (3, "Third page.")]
    assert len(pages.notes) == 1
    assert "page 2" in pages.notes[0]


def test_a_scan_needs_ocr():
    with pytest.raises(UnreadableError, match="OCR"):
        read_pdf(make_pdf([None]))


def test_a_damaged_file():
    with pytest.raises(UnreadableError, match="PDF"):
        read_pdf(b"%PDF-1.4 broken")
