"""scripts/voice.py on small trees: where it looks, what it finds, and what it leaves alone."""

import pytest

BAD = {
    "There are: a, b": "Choose from",
    "It is no number": "is not a",
    "Whoever calls it": "name the user",
    "Nobody calls it": "name the user",
    "the one whom it calls": "name the user",
    "First sentence. Who calls it gets a reply": "name the user",
    "only for the one who asks": "name the user",
    "The model is told the rule": "receives",
    "The report says so": "states it",
    "The function hears of it": "receive",
    "It stands in the file": "is in",
    "It stands beside the file": "is in",
    "It lies under the root": "is stored in",
    "It is printed beside the name": "next to",
    "It is held against the reference": "compared with",
    "It rests on two claims": "is based on",
    "A row a sample": "per",
    "At most so many calls": "this many",
    "By how many it is done": "Number of",
    "None where there is none": "if",
    "It is to be read once": "must be",
    "It is taken to be dead": "assumed",
    "It is made anew": "again",
    "A script mends it": "fix",
    "They are told apart by id": "distinguish",
    "It goes on with the rest": "continue",
    "It does so lest it fail": "current use",
    "The pair is turned round": "swap",
}
GOOD = """There is no model. It is no longer used; choose from: a, b. The user passes a judge model. Is x a number?
One row per sample, one at a time. A file is a table.
If the ids match, the model receives the rule. Where is it stored? The default understands it."""


@pytest.mark.parametrize(("text", "better"), BAD.items())
def test_each_pattern(tree, script, text, better):
    tree({"README.md": f"# Title\n\n{text}.\n"})
    done = script("voice", "--check")
    assert done.code == 1
    assert done.line("README.md:3: ")
    assert better in done.out


@pytest.mark.parametrize("start", ["What it does.", "Who is called.", "Say how it went."])
def test_first_words_of_docstrings(tree, script, start):
    tree({"src/pack/a.py": f'def run():\n    """{start}"""\n', "src/pack/b.py": f'TEXT = "{start}"\n'})
    done = script("voice", "--check")
    assert (done.code, "src/pack/a.py:2" in done.out, "src/pack/b.py" in done.out) == (1, True, False)


def test_plain_english_passes(tree, script):
    tree({"README.md": GOOD, "src/pack/a.py": f'"""{GOOD}"""\n'})
    done = script("voice", "--check")
    assert (done.code, done.out) == (0, "0 phrases to reword\n")


def test_without_check_it_only_prints(tree, script):
    tree({"README.md": "Made anew.\n"})
    assert script("voice").code == 0


PYTHON = '''"""A module.

It is made anew.
"""

# A comment is made
# anew.
VALUE = 1  # made anew
NAME = "anew"
TEXT = "made anew"
LONG = (
    "made of two parts, "
    f"{VALUE} of them anew"
)


def run(anew):
    """Read a file anew."""
    return f"{run('made anew')} {anew}"
'''


def test_python_prose(tree, script):
    tree({"src/pack/a.py": PYTHON})
    found = [line.split(":")[1] for line in script("voice").out.splitlines()[:-1]]
    assert found == ["3", "7", "8", "10", "13", "18", "19"]


def test_markdown_without_code(tree, script):
    tree({"docs/a.md": "Made `anew`.\n\n```\nanew\n```\n\n[a](anew.md) <!-- anew -->\n\nMade\nanew.\n"})
    assert script("voice").out.splitlines()[:-1] == ['docs/a.md:10: \'anew\' -> "again", "new"']


def test_templates_without_markup(tree, script):
    page = '<p class="anew">{{ anew }}{% if anew %}</p>\n<script>\nanew\n</script>\n<b>made\nanew</b>\n'
    tree({"src/pack/templates/a.html": page})
    assert [line[:30] for line in script("voice").out.splitlines()[:-1]] == ["src/pack/templates/a.html:6: '"]


@pytest.mark.parametrize(
    "files",
    [
        {"src/pack/a.py": 'TEXT = "made anew"  # voice: ok\n'},
        {"src/pack/a.py": 'TEXT = """made\nanew\n"""  # voice: ok\n'},
        {"docs/a.md": "Made anew. <!-- voice: ok -->\n"},
        {"src/pack/llm/prompts/a.md": "Made anew.\n"},
        {"src/pack/examples/a.py": '"""Made anew."""\n'},
        {"src/pack/text/refusal_phrases.py": '"""Made anew."""\n'},
        {"tests/test_a.py": '"""Made anew."""\n'},
    ],
)
def test_marked_lines_and_data_are_left_alone(tree, script, files):
    tree(files)
    assert script("voice", "--check").code == 0


def test_paths(tree, script):
    root = tree({"README.md": "Anew.\n", "src/pack/a.py": "# made anew\n", "src/pack/deep/b.py": "# made anew\n"})
    assert "3 phrases" in script("voice").out
    assert "1 phrases" in script("voice", root / "README.md").out
    done = script("voice", root / "src", root / "src/pack/a.py", "--check")
    assert (done.code, "2 phrases" in done.out) == (1, True)


def test_count(tree, script):
    files = {"README.md": "Anew.\n", "src/pack/web/a.py": "# made anew\n", "src/pack/web/pages/b.py": "# made anew\n"}
    tree(files)
    lines = [line.split() for line in script("voice", "--count").out.splitlines()]
    assert ["2", "src/pack/web"] in lines
    assert ["1", "README.md"] in lines
    assert ["3", r"\banew\b"] in lines
