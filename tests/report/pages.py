"""A page taken apart: tags in balance, ids, links, texts."""

from html.parser import HTMLParser

VOID = {"meta", "br", "wbr", "input", "hr", "img", "link", "base"}


class Page(HTMLParser):
    """Every element with its attributes, and the texts of some."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements = []
        self.texts = {}
        self._open = []
        self.feed(text)
        self.close()
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop() == tag, f"</{tag}> where another was open"

    def handle_data(self, data):
        for tag in set(self._open):
            self.texts.setdefault(tag, []).append(data)

    def text(self, tag="body"):
        return "".join(self.texts.get(tag, []))

    def find(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def ids(self):
        return [attributes["id"] for _, attributes in self.elements if "id" in attributes]

    @property
    def links(self):
        return [attributes["href"] for tag, attributes in self.elements if "href" in attributes]
