"""Files of all kinds, made here: PDF by hand, Word through the library that writes it."""

from __future__ import annotations

import io
from collections.abc import Sequence


def make_pdf(pages: Sequence[str | None]) -> bytes:
    """A PDF with a line of text for each line of a page; None is a page that holds only a picture."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    objects.append("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    kids = []
    for text in pages:
        content = "0 0 40 40 re f" if text is None else _show(text)
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
        page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects)} 0 R"
        objects.append(f"{page} /Resources << /Font << /F1 3 0 R >> >> >>")
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    return _assemble(objects)


def _show(text: str) -> str:
    escaped = [line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)") for line in text.split("\n")]
    return "BT /F1 12 Tf 72 720 Td 14 TL " + " ".join(f"({line}) Tj T*" for line in escaped) + " ET"


def _assemble(objects: Sequence[str]) -> bytes:
    out = io.BytesIO(b"%PDF-1.4\n")
    out.seek(0, io.SEEK_END)
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(out.tell())
        out.write(f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1"))
    start = out.tell()
    rows = "".join(f"{place:010d} 00000 n \n" for place in places)
    out.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{rows}".encode())
    out.write(f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode())
    return out.getvalue()


def make_docx() -> bytes:
    """Two headings, a paragraph under each, and a table."""
    import docx

    document = docx.Document()
    document.add_paragraph("Kept since 1903.")
    document.add_heading("Ferries", 1)
    document.add_paragraph("The last ferry leaves at 21:40.")
    table = document.add_table(rows=2, cols=2)
    for row, texts in zip(table.rows, (("Town", "Fare"), ("Verrin", "4.50")), strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    document.add_heading("Dogs", 2)
    document.add_paragraph("Dogs stay on deck.")
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


HTML = """<!DOCTYPE html><html><head><title>Harbour</title><style>p {color: red}</style></head><body>
<nav>Home | Contact</nav><script>let x = "not text";</script>
<p>Kept since 1903.</p><h1>Ferries <em>today</em></h1><p>The last ferry leaves<br>at 21:40.</p>
<table><tr><th>Town</th><th>Fare</th></tr><tr><td>Verrin</td><td>4.50</td></tr></table>
<h2>Dogs</h2><ul><li>Dogs stay on deck.</li><li>Größere Hunde zahlen.</li></ul></body></html>"""

MARKDOWN = """Kept since 1903.

# Ferries

The last ferry leaves at 21:40.

```
# no heading, but code
```

| Town | Fare |
|---|---|
| Verrin | 4.50 |

Dogs
----

Dogs stay on deck.
"""
