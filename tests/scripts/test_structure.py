"""Each rule of scripts/structure.py on a small tree: it passes, and it fails with the offender named."""

import pytest

from tests.scripts.conftest import SCRIPTS, Done

BUDGETS = {"cli": 200, "deep + one": 20, "parts": 2000, "root": 900}
CLEAN = {
    "src/pack/__init__.py": "",
    "src/pack/shapes.py": "def area(side):\n    return side * side\n\n\ndef volume(side):\n    return area(side) * side\n",
    "tests/test_shapes.py": "",
}
CALLED_ONCE = {
    "src/pack/shapes.py": "def area(side):\n    return side * side\n",
    "src/pack/main.py": "from pack.shapes import area\n\nprint(area(2))\n",
    "tests/test_main.py": "",
}


@pytest.fixture
def structure(tmp_path, monkeypatch, capsys):
    """Runs the script over the temporary repository, in this process and with budgets of its own."""
    monkeypatch.syspath_prepend(SCRIPTS)
    import structure

    monkeypatch.setattr(structure, "BUDGETS", BUDGETS)
    monkeypatch.setattr(structure, "MAX_LINES", 2500)
    monkeypatch.setattr(structure, "MAX_FILES", 578)

    def run(*arguments):
        code = structure.main(["--root", str(tmp_path), *arguments])
        return Done(code, capsys.readouterr().out)

    return run


@pytest.fixture
def check(tree, structure):
    """Writes the clean tree with some files replaced or added, and checks it."""

    def run(files=(), *arguments):
        tree({**CLEAN, **dict(files)})
        return structure("--check", *arguments)

    return run


def test_a_clean_tree_passes(check):
    done = check()
    assert done.code == 0
    assert "FAIL" not in done.out
    assert done.line("files").split() == ["files", "2", "<=", "578"]
    assert done.line("lines").split() == ["lines", "6", "<=", "2500"]


def test_without_check_it_only_prints(tree, structure):
    tree({**CLEAN, "src/pack/joining.py": ""})
    done = structure()
    assert done.code == 0
    assert "FAIL gerund names" in done.out


def test_number_of_files(check):
    done = check({f"src/pack/parts/part{number}/__init__.py": "" for number in range(579)})
    assert (done.code, "FAIL files" in done.out) == (1, True)
    assert "set MAX_FILES to 581 in scripts/structure.py" in done.out


def test_number_of_lines(check):
    files = {f"src/pack/parts/part{number}/__init__.py": "\n" * 500 for number in range(4)}
    assert check({**files, "src/pack/__init__.py": "\n" * 494}).code == 0
    done = check({**files, "src/pack/__init__.py": "\n" * 495})
    assert (done.code, "FAIL lines" in done.out, "FAIL package" in done.out) == (1, True, False)


def test_budgets_of_packages(check, structure):
    files = {"src/pack/deep/__init__.py": "\n" * 9, "src/pack/one/inner/__init__.py": "\n" * 11}
    done = check(files)
    assert done.code == 0
    assert "deep + one" not in done.out  # A check that passes is short.
    done = structure()
    assert done.line("package  ").split() == ["package", "lines", "budget", "files"]
    assert done.line("deep + one").split() == ["deep", "+", "one", "20", "20", "2"]
    assert done.line("root").split() == ["root", "6", "900", "2"]
    done = check({**files, "src/pack/one/__init__.py": "\n"})
    assert (done.code, "FAIL package budgets" in done.out) == (1, True)
    assert done.line("deep + one").split() == ["FAIL", "deep", "+", "one", "21", "20", "3"]
    assert 'set BUDGETS["deep + one"] to 21 in scripts/structure.py' in done.out


def test_a_package_without_a_budget_fails(check):
    done = check({"src/pack/new/__init__.py": "\n"})
    assert done.code == 1
    assert done.line("new ").split() == ["FAIL", "new", "1", "0", "1"]


def test_longest_file(check):
    assert check({"src/pack/__init__.py": "\n" * 600}).code == 0
    done = check({"src/pack/__init__.py": "\n" * 601})
    assert done.code == 1
    assert "src/pack/__init__.py: 601" in done.out


def test_long_functions(check):
    short = "def area():\n" + "    pass\n" * 59
    assert check({"src/pack/shapes.py": short}).code == 0
    method = "class Shape:\n    async def grow(self):\n" + "        pass\n" * 60
    done = check({"src/pack/shapes.py": method})
    assert done.code == 1
    assert "src/pack/shapes.py:2 grow: 61" in done.out


@pytest.mark.parametrize(
    "registration",
    [
        {"src/pack/cli/app.py": "from pack.cli.draw import draw\n\nfor one in (draw,):\n    app.command()(one)\n"},
        {"decorator": "@app.command()\n"},
    ],
)
def test_of_a_command_only_the_body_counts(check, registration):
    files = dict(registration)
    decorator = files.pop("decorator", "")
    signature = "def draw(\n" + "".join(f"    option_{number}=1,\n" for number in range(70)) + "):\n"
    files |= {"src/pack/cli/draw.py": decorator + signature + "    pass\n", "tests/cli/test_draw.py": ""}
    files |= {"tests/cli/test_app.py": ""}
    assert check(files).code == 0
    done = check({**files, "src/pack/cli/draw.py": decorator + signature + "    pass\n" * 61})
    assert (done.code, "draw: 61" in done.out) == (1, True)
    done = check({"src/pack/draw.py": signature + "    pass\n", "tests/test_draw.py": ""})
    assert (done.code, "draw: 73" in done.out) == (1, True)


@pytest.mark.parametrize(
    "back",
    [
        "import pack.a\n",
        "def late():\n    from pack import a\n    return a\n",
        "def late():\n    from . import a\n    return a\n",
        "from importlib import import_module\n\nimport_module('pack.a')\n",
        "try:\n    from pack.a import name\nexcept ImportError:\n    pass\n",
    ],
)
def test_import_cycles(check, back):
    files = {"src/pack/a.py": "from pack.b import name\n", "src/pack/b.py": back}
    files |= {"tests/test_a.py": "", "tests/test_b.py": ""}
    done = check(files)
    assert done.code == 1
    assert "pack.a > pack.b > pack.a" in done.out


def test_type_checking_imports_make_no_cycle(check):
    back = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import pack.a\nelse:\n    import pack.shapes\n"
    files = {"src/pack/a.py": "import pack.b\n", "src/pack/b.py": back}
    assert check({**files, "tests/test_a.py": "", "tests/test_b.py": ""}).code == 0
    back = back.replace("pack.shapes", "pack.a")
    assert check({"src/pack/b.py": back}).code == 1


def test_one_component_is_counted_once(check):
    files = {f"src/pack/{a}.py": f"import pack.{b}\nimport pack.{c}\n" for a, b, c in ("abc", "bca", "cab")}
    done = check(files)
    assert done.line("import cycles").split()[:4] == ["FAIL", "import", "cycles", "1"]
    assert "3 modules: pack.a, pack.b, pack.c" in done.out


def test_one_caller_functions(check):
    done = check(CALLED_ONCE)
    assert done.code == 1
    assert "100.0 % (1 of 1)" in done.out
    assert "src/pack/shapes.py: area (from src/pack/main.py:3)" in done.out


@pytest.mark.parametrize(
    "change",
    [
        {"src/pack/main.py": "from pack.shapes import area\n\nprint(area(2), area(3))\n"},
        {"src/pack/other.py": "from pack import shapes as s\n\nprint(s.area)\n"},
        {"src/pack/other.py": "import pack.shapes\n\nprint(pack.shapes.area)\n"},
        {"src/pack/other.py": "def late():\n    from pack.shapes import area as a\n    return a\n\n\nlate()\n"},
        {"src/pack/shapes.py": "def area(side):\n    return side\n\n\nSQUARE = area(2)\n"},
        {"src/pack/shapes.py": "@metric(family='x')\ndef area(side):\n    return side\n"},
        {"src/pack/__init__.py": "from pack.shapes import area\n\n__all__ = ['area']\n", "src/pack/main.py": ""},
        {"src/pack/main.py": "from pack.shapes import area\n\n\ndef run(area):\n    return area(2)\n"},
        {"src/pack/main.py": "from pack.shapes import area\n\nprint(lambda area: area(2))\n"},
    ],
)
def test_functions_with_more_users_or_other_users(check, change):
    done = check({**CALLED_ONCE, **change, "tests/test_other.py": ""})
    assert "FAIL one-caller" not in done.out
    assert done.code == 0


def test_a_name_imported_through_a_package_leads_to_its_function(check):
    files = {"src/pack/__init__.py": "from pack.shapes import area\n"}
    files |= {"src/pack/main.py": "import pack\n\nprint(pack.area(2))\n"}
    assert "area (from src/pack/main.py:3)" in check({**CALLED_ONCE, **files}).out


def test_a_call_of_itself_is_not_a_user(check):
    shapes = "def area(side):\n    return area(side - 1) if side else 0\n"
    assert "area (from src/pack/main.py:3)" in check({**CALLED_ONCE, "src/pack/shapes.py": shapes}).out


def test_mirror_tests(check):
    files = {f"src/pack/deep/part{number}.py": "" for number in range(4)} | {"src/pack/__main__.py": ""}
    mirrors = {f"tests/deep/test_part{number}.py": "" for number in range(3)}
    assert check({**files, **mirrors}).code == 0
    done = check({"src/pack/other.py": ""})
    assert done.code == 1
    assert "66.7 % (4 of 6)" in done.out
    assert "src/pack/deep/part3.py (no tests/deep/test_part3.py)" in done.out


def test_gerund_names(check):
    assert check({"src/pack/testing.py": "", "tests/test_testing.py": ""}).code == 0
    done = check({"src/pack/joining.py": "", "tests/test_joining.py": ""})
    assert done.code == 1
    assert "src/pack/joining.py" in done.out


def test_repeated_names_are_printed_only(check, structure):
    files = {"src/pack/one/shapes.py": "", "src/pack/one/__init__.py": "", "tests/one/test_shapes.py": ""}
    done = check(files)
    assert done.code == 0
    done = structure()
    assert "shapes.py (2)" in done.out
    assert "__init__.py (" not in done.out


def test_worst(tree, structure):
    tree({**CLEAN, **CALLED_ONCE, "src/pack/other.py": "\n" * 9})
    done = structure("--worst", "1")
    assert done.code == 0
    assert "src/pack/other.py: 9" in done.out
    assert "src/pack/main.py: 3" not in done.out
    assert "area (from src/pack/main.py:3)" in done.out
    assert "no tests/test_other.py" in done.out
