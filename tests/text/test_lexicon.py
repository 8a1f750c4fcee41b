import json
import re
import subprocess
import sys
from collections import Counter

import pytest

from ragstone.text.lexicon import late_pattern


def test_a_late_pattern_is_the_compiled_pattern(monkeypatch):
    compiled = []
    original = re.compile
    monkeypatch.setattr(re, "compile", lambda *arguments: compiled.append(arguments) or original(*arguments))
    late = late_pattern(r"(?P<word>[a-z]+)", re.IGNORECASE)
    assert compiled == []
    assert late.sub("x", "Ab 1 c") == "x 1 x"
    assert late.search("1 Ab")["word"] == "Ab"
    assert late.findall("a B") == ["a", "B"]
    assert late.groupindex == {"word": 1}
    assert compiled == [(r"(?P<word>[a-z]+)", re.IGNORECASE)]


def test_an_unknown_attribute_is_an_error():
    with pytest.raises(AttributeError):
        _ = late_pattern("a").missing
    with pytest.raises(AttributeError):
        _ = late_pattern("a")._missing


def test_importing_the_engine_compiles_few_patterns_of_ragstone():
    """Counts the compilations instead of seconds: there were 200."""
    code = """
import re, sys, ragstone
compile, found = re.compile, []
def counted(*arguments, **named):
    if sys._getframe(1).f_globals["__name__"].startswith("ragstone"):
        found.append((sys._getframe(1).f_globals["__name__"], len(arguments[0])))
    return compile(*arguments, **named)
re.compile = counted
import ragstone.engine.evaluate
print(json.dumps(found))
"""
    done = subprocess.run([sys.executable, "-c", f"import json\n{code}"], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    by_module = Counter(module for module, _ in found)
    advice = f"late_pattern compiles at the first use; compiled at import: {by_module.most_common()}"
    assert len(found) <= 120, advice
    assert sum(letters for _, letters in found) <= 6_000, advice
