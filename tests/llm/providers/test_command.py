"""A user's system as a command."""

import gc
import json
import os
import sys
import time
from pathlib import Path

import pytest

from ragstone.data.types import Chunk
from ragstone.llm.base import LLMAccessError, LLMError
from ragstone.llm.cache import Cache
from ragstone.llm.systems import Answer
from tests.llm.systems import PASSAGES, answer, using

ECHO = """
import json, sys
asked = json.load(sys.stdin)
print(json.dumps({"answer": asked["question"], "contexts": asked["contexts"], "pages": 3}))
"""


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "rag.py"
        path.write_text(text)
        return f"cmd:{sys.executable} {path}"

    return write


def test_json_in_and_out(script):
    found = answer(script(ECHO), "Wann fährt \u2028 das 'Boot'?", PASSAGES)
    assert found == Answer("Wann fährt \u2028 das 'Boot'?", PASSAGES, {"pages": 3})


def test_text_out_and_the_question_as_an_argument(script):
    spec = script("import sys; print(sys.argv[1:])") + " --ask={question}"
    evil = "$(touch owned); `touch owned` | rm -rf ~ && 'x \"y"
    assert answer(spec, evil).text == str([f"--ask={evil}"])
    assert not Path("owned").exists()


def test_a_text_that_only_looks_like_json(script):
    assert answer(script("print('{not json')")).text == "{not json"
    assert answer(script("print('[1, 2] are the pages')")).text == "[1, 2] are the pages"


def test_a_line_with_spaces_needs_no_prefix(script):
    assert answer(script("print('yes')").removeprefix("cmd:")).text == "yes"


def test_a_failure_is_told_by_its_last_words(script):
    with pytest.raises(LLMError, match=r"exited with 3: no index found$"):
        answer(
            script("import sys; print('one', file=sys.stderr); print('no index found', file=sys.stderr); sys.exit(3)")
        )


def test_a_mapping_without_an_answer(script):
    with pytest.raises(LLMError, match="without 'answer'; it has result_text"):
        answer(script("print('{\"result_text\": 1}')"))


def test_a_program_that_is_not_there_ends_the_run():
    with pytest.raises(LLMAccessError, match=r"no-such-program.*does not exist"):
        answer("cmd:no-such-program --k 5")


@pytest.mark.slow
def test_one_that_hangs_is_killed_with_its_children(script, tmp_path):
    child = tmp_path / "child"
    spec = script(
        f"import subprocess, sys, time\n"
        f"made = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(child)!r}, 'w').write(str(made.pid)); time.sleep(60)"
    )
    with pytest.raises(LLMError, match="sent no answer within 2 s"):
        answer(spec, timeout_s=2.0)
    pid = int(child.read_text())
    for _ in range(100):
        if not _is_alive(pid):
            return
        time.sleep(0.05)
    raise AssertionError("the child lives on")


def _is_alive(pid):
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        try:
            os.kill(pid, 0)
        except OSError:
            return False
        return not Path("/proc").exists()


@pytest.mark.slow
def test_a_child_that_keeps_the_pipes_of_an_ended_command_is_killed(script, tmp_path):
    pid = tmp_path / "pid"
    spec = script(
        "import pathlib, subprocess\n"
        f"pathlib.Path({str(pid)!r}).write_text(str(subprocess.Popen(['sleep', '60']).pid))\n"
    )
    with pytest.raises(LLMError, match="sent no answer within"):
        answer(spec, timeout_s=3.0)
    gc.collect()  # an open pipe is a warning, and so a failure, here and not in a later test
    for _ in range(100):
        if not _is_alive(int(pid.read_text())):
            return
        time.sleep(0.05)
    raise AssertionError("the child lives on")


def test_an_edited_script_is_another_system(script, tmp_path):
    cache = Cache(tmp_path / "cache")
    assert answer(script("print(1)"), cache=cache).text == "1"
    assert answer(script("print(2)"), cache=cache).text == "2"
    assert answer(script("print(1)"), cache=Cache(tmp_path / "cache")).text == "1"

    async def signature(system):
        return system.signature

    assert using(script("print(1)"), signature) == using(script("print(1)"), signature)


def test_chunks_of_a_command(script):
    spec = script(f"print({json.dumps(json.dumps({'answer': 'a', 'contexts': ['x', 'y']}))})")
    assert answer(spec).contexts == [Chunk("x"), Chunk("y")]
