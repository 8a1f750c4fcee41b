"""Text of web pages."""

from ragstone.formats.documents.html import read_html


def test_blocks_headings_and_tables():
    page = (
        b"<html><head><title>T</title></head><body><nav>Menu</nav><p>Before  the\nheading.</p><h2>Fares</h2>"
        b"<table><tr><th>Town</th><th>Fare</th></tr></table><p>One<br>two <b>bold</b></p><script>x()</script></body></html>"
    )
    assert [(section.heading, section.text) for section in read_html(page)] == [
        (None, "Before the heading."),
        ("Fares", "| Town | Fare |\nOne\ntwo bold"),
    ]


def test_encodings():
    assert read_html("<p>Größe</p>".encode())[0].text == "Größe"
    latin = '<html><head><meta charset="iso-8859-1"></head><body><p>Größe</p></body></html>'
    assert read_html(latin.encode("iso-8859-1"))[0].text == "Größe"
