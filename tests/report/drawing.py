"""Reports drawn to text."""

import io

from rich.console import Console


def draw(report, width=100):
    screen = io.StringIO()
    Console(file=screen, width=width, highlight=False).print(report)
    return screen.getvalue()
