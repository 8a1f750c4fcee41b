"""Reads the data back out of a rendered prompt."""

import re

_FENCED = re.compile(r"^<(?P<name>\w+) (?P<code>[a-z]+)(?: (?P<count>\d+))?>\n(?P<body>.*?)^</\1 \2>$", re.M | re.S)


def read_fenced(message: str) -> dict[str, str | list[str]]:
    """Return the data of a rendered message, for fake models that react to the question."""
    data: dict[str, str | list[str]] = {}
    code = None
    for match in _FENCED.finditer(message):
        code = code or match["code"]
        if match["code"] != code:
            continue
        if match["count"] is None:
            data[match["name"]] = match["body"].removesuffix("\n")
        else:
            items = re.split(rf"^\[(?:\d+|[A-Z]+) {code}\] ", match["body"], flags=re.M)[1:]
            data[match["name"]] = [item.removesuffix("\n") for item in items]
    return data
