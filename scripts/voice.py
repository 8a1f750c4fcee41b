"""Finds phrases that plain technical English avoids, and suggests the better wording.

    python scripts/voice.py                     print every finding in the repository
    python scripts/voice.py --check             also exit with 1 if there are any
    python scripts/voice.py --count             print the number of findings per package and per pattern
    python scripts/voice.py PATH... [--check]   look only at these files and folders

It reads the prose: docstrings, comments and string literals with a space in `src/**/*.py`, the text of
`src/**/*.html`, and `docs/**/*.md`, README.md, CHANGELOG.md and CONTRIBUTING.md without their code. Prompts, examples
and phrase lists are data and excluded (EXCLUDED). A line that contains `voice: ok` is not checked; for a string of
several lines, the mark may be on its first or last line.

Patterns are regular expressions, matched without regard to case against text in which every run of white space is one
space. A docstring starts with three quotation marks, so that a pattern can refer to its first word.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

# (pattern, better wording)
RULES = [
    (r"\bthere are: ", 'choices: "Choose from: a, b"'),
    (r"(?<!there )\bis no (?!longer|more|less|fewer|doubt)", '"is not a ..."'),
    (r"\b(who|whom|what)ever\b", "name the user, caller, model or value"),
    (r"\b(some|no|any|every)body\b", "name the user, caller or model"),
    (r"\bwhom\b", "name the user, caller or model"),
    (r'(?<=""")who ', 'a noun or a verb: "The judge model ..."'),
    (r"(?<=[.;:] )who (?![^.]*\?)", "name the user, caller or model"),
    (r"\bwho (asks?|names?|wants?|needs?|knows?|gives?|takes?)\b", 'name the user: "if the user passes ..."'),
    (r'(?<=""")what ', 'a noun or a verb: "The stored ...", "Returns ..."'),
    (r'(?<=""")say ', '"Print", "Report" or "Return"'),
    (r"\b(is|are|was|were|be) (told|said)\b", '"receives", "is passed", "is shown", "is stated"'),
    (r"\b(says?|said) so\b", '"states it", "supported", "reports it"'),
    (r"\b(hears?|heard)\b", "programs do not hear: receive, read"),
    (r"\b(stands?|stood) (in|on|at|by|for|beside|above|below|under|there|alone|nowhere|with)\b", '"is in", "means"'),
    (r"\b(lies?|lay) (in|on|at|here|there|where|beside|above|below|under|elsewhere|between)\b", '"is in", "is stored in"'),
    (r"\bbeside\b", '"next to", "with", "in addition to"'),
    (r"\b(hold|holds|held) against\b", '"compared with"'),
    (r"\b(rest|rests|rested) (up)?on\b", '"is based on", "is supported by"'),
    (r"\b(a|one) (row|column|line|file|page|call|cell|table|process|request|connection|\w+s) an? (?!time)\w+", '"per": "one row per sample"'),
    (r"\bso many\b", '"this many", "N"'),
    (r"\bby how many\b", '"Number of ..."'),
    (r"\bwhere (there (is|are|was|were)|(it|they|that|this|one) (is|are) (not|the same|too|another|missing)|none|nothing|no|neither|both) ", '"if ..."'),
    (r"\b(is|are) (not )?to be \w+", '"must be", "should be"'),
    (r"\b(is|are) taken (to|for|as|that)\b", '"is assumed to be", "is treated as"'),
    (r"\banew\b", '"again", "new"'),
    (r"\b(mend|mends|mended|mending)\b|\bput right\b", '"fix", "repair", "correct"'),
    (r"\b(told|tells?|telling) (them )?apart\b", '"distinguish"'),
    (r"\b(goes|go|going|went) on with\b", '"continue"'),
    (r"\b(whence|thence|thereof|wherein|therein|lest|albeit|unto|nought|thrice)\b", "a word in current use"),
    (r"\bturn(ed)? round\b|\btake it along\b|\bthat is all\b", '"swap", "export", or leave it out'),
]  # fmt: skip

EXCLUDED = [
    "*/examples/*",
    "*/prompts/*.md",
    "*/llm/templates/*.md",
    "*/weights/*",
    "*refusal_phrases*",
    "*/error_notices.py",
    # Generated from src, which is checked.
    "docs/metrics.md",
    "docs/trust.md",
]
PROSE = ("src/**/*.py", "src/**/*.html", "docs/**/*.md", "README.md", "CHANGELOG.md", "CONTRIBUTING.md")
MARK = "voice: ok"
PATTERNS = [(re.compile(pattern, re.IGNORECASE), better) for pattern, better in RULES]


@dataclass(frozen=True)
class Piece:
    """A piece of prose, and the lines of the file that it covers."""

    text: str
    first: int
    last: int


@dataclass(frozen=True)
class Finding:
    """A phrase to reword."""

    path: str
    line: int
    phrase: str
    pattern: str
    better: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: '{self.phrase}' -> {self.better}"


def python_pieces(source: str) -> Iterator[Piece]:
    """Docstrings, string literals with a space, and blocks of comments."""
    tree = ast.parse(source)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr):
            docstrings.add(id(node.body[0].value))
    for node in strings(tree):
        text = literal_text(node)
        if id(node) in docstrings:
            yield Piece(f'"""{text}', node.lineno, node.end_lineno or node.lineno)
        elif " " in text.strip():
            yield Piece(text, node.lineno, node.end_lineno or node.lineno)
    yield from comment_blocks(source)


def strings(tree: ast.AST) -> Iterator[ast.Constant | ast.JoinedStr]:
    """All string literals; an f-string is one literal."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.JoinedStr):
            yield node
            pending.extend(part.value for part in node.values if isinstance(part, ast.FormattedValue))
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                yield node
        else:
            pending.extend(ast.iter_child_nodes(node))


def literal_text(node: ast.Constant | ast.JoinedStr) -> str:
    """The text of a literal, with {} for each expression of an f-string."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)


def comment_blocks(source: str) -> Iterator[Piece]:
    """Comments; those on consecutive lines of their own are one piece."""
    block: list[str] = []
    last = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        line = token.start[0]
        alone = not token.line[: token.start[1]].strip()
        if block and not (alone and line == last + 1):
            yield Piece("\n".join(block), last - len(block) + 1, last)
            block = []
        block.append(token.string.lstrip("#").strip())
        last = line
    if block:
        yield Piece("\n".join(block), last - len(block) + 1, last)


def blank(pattern: str, text: str) -> str:
    """The text with each match replaced by spaces; line breaks stay."""
    return re.sub(pattern, lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.DOTALL | re.MULTILINE)


def paragraphs(text: str) -> Iterator[Piece]:
    """The parts of a text between blank lines."""
    block: list[str] = []
    lines = [*text.split("\n"), ""]
    for number, line in enumerate(lines, start=1):
        if line.strip():
            block.append(line)
        elif block:
            yield Piece("\n".join(block), number - len(block), number - 1)
            block = []


def pieces(path: Path, source: str) -> Iterator[Piece]:
    """The prose of a file."""
    if path.suffix == ".py":
        yield from python_pieces(source)
    elif path.suffix == ".html":
        source = blank(r"<(script|style)\b.*?</\1>", source)
        yield from paragraphs(blank(r"\{%.*?%\}|\{\{.*?\}\}|<!--.*?-->|</?\w[^<>]*>", source))
    else:
        source = blank(r"^( *)(```|~~~).*?^ *\2", source)
        yield from paragraphs(blank(r"`[^`\n]*`|<!--.*?-->|\]\([^)\n]*\)", source))


def locate(phrase: str, words_before: int, piece: Piece, lines: list[str]) -> int:
    """The line of a phrase in the file."""
    if piece.text.count("\n") == piece.last - piece.first:
        for number, line in enumerate(piece.text.split("\n"), start=piece.first):
            words_before -= len(line.split())
            if words_before < 0:
                return number
    # The literal is written in several parts: its line breaks are not those of the file.
    numbers = range(piece.first, piece.last + 1)
    return next((number for number in numbers if phrase in " ".join(lines[number - 1].split())), piece.first)


def find(path: Path, shown: str) -> list[Finding]:
    """The phrases of a file to reword, in order."""
    source = path.read_text(encoding="utf-8")
    lines = source.split("\n")
    found = []
    for piece in pieces(path, source):
        if MARK in lines[piece.first - 1] or MARK in lines[piece.last - 1]:
            continue
        text = " ".join(piece.text.split())
        for (pattern, better), (written, _) in zip(PATTERNS, RULES, strict=True):
            for match in pattern.finditer(text):
                words_before = len(text[: match.start()].replace('"""', "").split())
                line = locate(match[0].strip(), words_before, piece, lines)
                if MARK not in lines[line - 1]:
                    found.append(Finding(shown, line, match[0].strip(), written, better))
    return sorted(found, key=lambda finding: finding.line)


def select(root: Path, given: list[Path]) -> dict[str, Path]:
    """The files to check by printed name: the prose of the repository, or the given files and folders."""
    if not given:
        paths = [path for pattern in PROSE for path in root.glob(pattern)]
    else:
        suffixes = {".py", ".html", ".md"}
        below = [child for path in given if path.is_dir() for child in path.rglob("*") if child.suffix in suffixes]
        paths = [path for path in given if path.is_file()] + below
    named = {(path.relative_to(root) if path.is_relative_to(root) else path).as_posix(): path for path in paths}
    return {name: named[name] for name in sorted(named) if not any(fnmatch(name, glob) for glob in EXCLUDED)}


def package(shown: str) -> str:
    """The unit that `--count` adds up: src/<top>/<package>, docs, or a file at the top."""
    folders = shown.split("/")[:-1]
    return "/".join(folders[:3]) or shown


def counts(findings: list[Finding]) -> list[str]:
    """Findings per package and per pattern, most first."""
    packages = Counter(package(finding.path) for finding in findings)
    patterns = Counter(finding.pattern for finding in findings)
    per_package, per_pattern = (
        [f"{number:6} {name}" for name, number in table.most_common()] for table in (packages, patterns)
    )
    return [*per_package, "", *per_pattern, ""]


def main(argv: list[str] | None = None) -> int:
    """Print the findings and return the exit code."""
    parser = argparse.ArgumentParser(description="Find phrases that plain technical English avoids.")
    parser.add_argument("paths", nargs="*", type=Path, help="files and folders; the whole repository by default")
    parser.add_argument("--check", action="store_true", help="fail if anything is found")
    parser.add_argument("--count", action="store_true", help="print numbers instead of findings")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent, help="the repository")
    options = parser.parse_args(argv)
    if missing := [str(path) for path in options.paths if not path.exists()]:
        parser.error(f"no such file or folder: {', '.join(missing)}")
    root = options.root.resolve()
    findings = []
    for shown, path in select(root, [path.resolve() for path in options.paths]).items():
        findings += find(path, shown)
    lines = counts(findings) if options.count else [str(finding) for finding in findings]
    sys.stdout.write("\n".join([*lines, f"{len(findings)} phrases to reword"]) + "\n")
    return int(options.check and bool(findings))


if __name__ == "__main__":
    sys.exit(main())
