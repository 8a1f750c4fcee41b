"""Documents of five kinds are read section by section; what cannot be read is reported, and the rest goes on."""

from __future__ import annotations

import io
import sys
import zipfile

import pytest

from ragstone.errors import UsageError
from ragstone.formats.documents import Section, make_passages, read_documents
from ragstone.formats.documents.base import Document
from tests.formats.documents.making import HTML, MARKDOWN, make_docx, make_pdf

pytest.importorskip("pypdf")
pytest.importorskip("docx")
# Made before a test hides the library.
_DOCX = make_docx()


def _write(folder, **files: bytes | str) -> None:
    for name, content in files.items():
        path = folder / name.replace("_", ".")
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def _bomb() -> bytes:
    """A Word document whose text unpacks to a thousand times its size."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(_DOCX)) as good, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for part in good.infolist():
            content = good.read(part)
            if part.filename == "word/document.xml":
                content = content.replace(b"Kept since 1903.", b"A" * (70 << 20))
            archive.writestr(part.filename, content)
    return out.getvalue()


def test_each_kind_gives_its_text_under_its_headings(tmp_path) -> None:
    _write(
        tmp_path,
        a_docx=make_docx(),
        b_html=HTML,
        c_md=MARKDOWN,
        d_pdf=make_pdf(["First page.", "Second (page)."]),
        e_txt="Plain\r\ntext.",
    )
    found = read_documents([str(tmp_path)])
    assert found.problems == []
    sections = {document.source: document.sections for document in found.documents}
    assert sections["a.docx"] == [
        Section("Kept since 1903."),
        Section("The last ferry leaves at 21:40.\n| Town | Fare |\n| Verrin | 4.50 |", "Ferries"),
        Section("Dogs stay on deck.", "Dogs"),
    ]
    assert sections["b.html"] == [
        Section("Kept since 1903."),
        Section("The last ferry leaves\nat 21:40.\n| Town | Fare |\n| Verrin | 4.50 |", "Ferries today"),
        Section("Dogs stay on deck.\nGrößere Hunde zahlen.", "Dogs"),
    ]
    assert [section.heading for section in sections["c.md"]] == [None, "Ferries", "Dogs"]
    assert "# no heading, but code" in sections["c.md"][1].text
    assert sections["c.md"][2].text == "Dogs stay on deck."
    assert sections["d.pdf"] == [Section("First page.", page=1), Section("Second (page).", page=2)]
    assert sections["e.txt"] == [Section("Plain\ntext.")]
    assert all(not document.notes for document in found.documents)


def test_what_cannot_be_read_is_reported_and_the_rest_goes_on(tmp_path) -> None:
    (tmp_path / "deep").mkdir()
    _write(
        tmp_path,
        good_txt="It is good.",
        scan_pdf=make_pdf([None, None, None]),
        broken_pdf=make_pdf(["Text."])[:80],
        half_docx=make_docx()[:2000],
        zip_docx=b"PK\x03\x04 nothing",
        bomb_docx=_bomb(),
        empty_md="  \n",
        binary_txt=b"\x00\x01\x02" * 50,
        blank_html="<!doctype html><html><body><script>x</script></body></html>",
        huge_txt="word " * 400_000,
        picture_png=b"\x89PNG",
    )
    _write(tmp_path / "deep", more_txt="More.")
    found = read_documents([str(tmp_path)], most_bytes=1_000_000)
    assert [document.source for document in found.documents] == ["deep/more.txt", "good.txt"]
    reasons = {problem.source: problem.reason for problem in found.problems}
    said = {
        "scan.pdf": "its 3 pages contain no text",
        "broken.pdf": "cannot be read as PDF",
        "half.docx": "extension means docx",
        "zip.docx": "extension means docx",
        "bomb.docx": "it unpacks from",
        "empty.md": "it is empty",
        "binary.txt": "it is not text",
        "blank.html": "it contains no text",
        "huge.txt": "the limit is 1 MB",
    }
    assert reasons.keys() == said.keys()
    for name, words in said.items():
        assert words in reasons[name], reasons[name]


def test_the_content_counts_where_the_extension_is_wrong(tmp_path) -> None:
    _write(tmp_path, page_txt=HTML, paper_md=make_pdf(["A page."]), letter_pdf=make_docx(), odd_pdf="just words")
    found = read_documents([str(tmp_path)])
    notes = {document.source: document.notes for document in found.documents}
    assert notes == {
        "letter.pdf": ["its extension is .pdf, it is read as docx"],
        "page.txt": ["its extension is .txt, it is read as html"],
        "paper.md": ["its extension is .md, it is read as pdf"],
    }
    assert [problem.source for problem in found.problems] == ["odd.pdf"]
    (tmp_path / "README").write_text("No extension at all.")
    assert read_documents([str(tmp_path / "README")]).documents[0].sections == [Section("No extension at all.")]


def test_a_pdf_of_500_pages_is_read_to_its_end(tmp_path) -> None:
    pages: list[str | None] = [f"Page {number} is about pier {number}.\nIt has two lines." for number in range(1, 501)]
    pages[249] = None
    _write(tmp_path, long_pdf=make_pdf(pages))
    document = read_documents([str(tmp_path / "long.pdf")]).documents[0]
    assert len(document.sections) == 499
    assert (document.sections[-1].page, "pier 500" in document.sections[-1].text) == (500, True)
    assert document.notes == ["1 of 500 pages have no text, the first is page 250"]


def test_encodings(tmp_path) -> None:
    _write(
        tmp_path,
        utf8_txt="\ufeffGrüße".encode(),
        utf16_txt="Grüße".encode("utf-16"),
        windows_txt="Grüße – „so“".encode("cp1252"),
    )
    texts = [document.sections[0].text for document in read_documents([str(tmp_path)]).documents]
    assert texts == ["Grüße", "Grüße", "Grüße – „so“"]


def test_a_path_that_is_not_there_is_an_error(tmp_path) -> None:
    with pytest.raises(UsageError, match="there is no document"):
        read_documents([str(tmp_path / "nowhere.txt")])


def test_passages_are_whole_sentences_within_a_section() -> None:
    long = " ".join(f"Sentence number {number} has seven words here." for number in range(30))
    document = Document("a.md", [Section("Short one.", "First"), Section(long, "Second", 4)])
    passages = make_passages(document, most_words=50)
    assert [passage.id for passage in passages] == [f"a.md#{number}" for number in range(1, len(passages) + 1)]
    assert passages[0].text == "Short one."
    assert {passage.section for passage in passages} == {"First", "Second"}
    assert " ".join(passage.text for passage in passages[1:]) == long
    assert all(len(passage.text.split()) <= 50 for passage in passages)
    assert passages[1].page == 4


def test_documents_are_read_from_s3(bucket) -> None:
    bucket.write("docs/a.md", b"# Ferries\n\nThe last ferry leaves at 21:40.")
    bucket.write("docs/deep/b.txt", b"More.")
    bucket.write("docs/scan.pdf", make_pdf([None]))
    found = read_documents([f"{bucket.url}/docs"])
    assert [document.source for document in found.documents] == ["a.md", "deep/b.txt"]
    assert [problem.source for problem in found.problems] == ["scan.pdf"]


def test_a_parser_that_is_not_installed_is_named(tmp_path, monkeypatch) -> None:
    for module in ("pypdf", "docx", "lxml"):
        monkeypatch.setitem(sys.modules, module, None)
    _write(tmp_path, a_pdf=make_pdf(["A."]), b_docx=_DOCX, c_html=HTML, d_txt="Fine.")
    found = read_documents([str(tmp_path)])
    assert [document.source for document in found.documents] == ["d.txt"]
    assert [problem.source for problem in found.problems] == ["a.pdf", "b.docx", "c.html"]
    assert all("pip install 'ragstone[documents]'" in problem.reason for problem in found.problems)


def test_a_locked_pdf_says_so(tmp_path) -> None:
    import pypdf

    writer = pypdf.PdfWriter(io.BytesIO(make_pdf(["Secret."])))
    writer.encrypt("word", algorithm="RC4-128")
    with (tmp_path / "locked.pdf").open("wb") as file:
        writer.write(file)
    assert "locked with a password" in read_documents([str(tmp_path)]).problems[0].reason


def test_a_fragment_of_a_web_page_is_a_web_page(tmp_path) -> None:
    (tmp_path / "hours.html").write_text(
        "<h2>Opening hours</h2>\n<table><tr><td>Monday</td><td>9 to 17</td></tr></table>"
    )
    (tmp_path / "code.html").write_text("x < y")
    found = read_documents([str(tmp_path)])
    assert [document.source for document in found.documents] == ["hours.html"]
    assert [problem.source for problem in found.problems] == ["code.html"]
    assert [section.heading for section in found.documents[0].sections] == ["Opening hours"]
