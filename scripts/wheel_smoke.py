"""Tries every command of an installed Ragstone, without a network. `scripts/wheel.py` starts it in an empty environment.

Every command shows its help; most also do a tiny job on the shipped example. A command that needs a language model shows
its quote, or asks a function.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import socket
import struct
import subprocess
import sys
import time
import urllib.request
from importlib import resources
from pathlib import Path

MINE = """
def answer(question, contexts=()):
    return "At 21:10.", ["From Orlsay the last boat leaves at 21:10."]


def judge(prompt):
    return "{}"
"""
QRELS = "q1 0 d1 1\nq1 0 d2 0\n"
LOG = '{"question": "When?", "answer": "At 21:10.", "contexts": ["At 21:10."], "timestamp": "2024-05-01T10:00:00Z"}\n'
TREC = "q1 Q0 d1 1 2.0 a\nq1 Q0 d2 2 1.0 a\n"
# Each runs in a process; a number at the end is an exit code other than 0. HARBOUR is the folder of the example.
CALLS = """
demo worse -q
run HARBOUR/better.jsonl -m token_f1,recall,fact_recall --name main --branch main -q
run HARBOUR/better.jsonl -m token_f1,recall,fact_recall --name fix --branch fix -q
diagnose harbour-worse
explain harbour-worse 1
compare main harbour-worse -m recall
gate fix --baseline main --max-drop recall=0.02
gate harbour-worse --min recall=0.99 => 3
report harbour-worse -o report.html
judge main harbour-worse --judge mine.py:judge --quote
judge-check mine.py:judge --quote
audit mine.py:judge --quote
agree harbour-worse --human demo -m recall,token_f1
stress HARBOUR/better.jsonl --system mine.py:answer -n 4 -m exact_match -q
erag HARBOUR/better.jsonl --system mine.py:answer -n 2 -m token_f1 -q
simulate HARBOUR/users.toml --system HARBOUR/toy_rag.py:answer -q
metrics fact_recall
validate HARBOUR/better.jsonl
convert HARBOUR/better.jsonl -o better.parquet
models list
cache size
doctor
trec qrels run.trec
fuse run.trec run.trec -o fused.trec
pool harbour-worse --judge mine.py:judge -o pooled.qrels --quote
truth import HARBOUR/truth.jsonl desk
truth list
truth show desk
truth history desk
truth diff desk@1 desk@1
truth check HARBOUR/better.jsonl
truth collect desk --system mine.py:answer -o new.jsonl -n 3 -q
run new.jsonl --truth desk -m token_f1 -q
truth rescore main --truth desk
truth suspects desk
truth export desk exported.jsonl
truth synthesise HARBOUR/documents --to made --judge mine.py:judge --quote
truth extract HARBOUR/better.jsonl --to extracted --judge mine.py:judge --quote
truth harvest HARBOUR/chat.jsonl --to harvested
truth signals HARBOUR/chat.jsonl
watch seen --from log.jsonl --rate 1 -m k_precision --once
sweep HARBOUR/sweep.toml -n 4 -q
convert HARBOUR/better.jsonl -o checker.json --to ragchecker
ragchecker --input_path checker.json --output_path out.json --metrics retriever_metrics --extractor_name local --checker_name local
batches
mcp => 2
skill
init
"""


def main() -> int:
    """Run everything; returns 1 if anything failed."""
    raise_loopback()
    check_cut()
    Path("mine.py").write_text(MINE)
    Path("qrels").write_text(QRELS)
    Path("run.trec").write_text(TREC)
    Path("log.jsonl").write_text(LOG)
    started, wrong = time.perf_counter(), []
    commands = list_commands()
    wrong += [f"ragstone {' '.join(command)} --help" for command in commands if not shows_help(command)]
    calls = [line for line in CALLS.splitlines() if line]
    with resources.as_file(resources.files("ragstone.examples") / "harbour") as harbour:
        wrong += [line for line in calls if not succeeds(line, str(harbour))]
    wrong += [] if serves() else ["view"]
    done = {tuple(line.split()) for line in [*calls, "view"]}
    idle = [" ".join(name) for name in commands if not any(words[: len(name)] == name for words in done)]
    took = time.perf_counter() - started
    say(f"{len(commands)} commands with --help, {len(calls) + 1} calls in {took:.0f} s; only --help: {', '.join(idle)}")
    for line in wrong:
        say(f"WRONG: {line}")
    return 1 if wrong else 0


def raise_loopback() -> None:
    """In a new network namespace the loopback interface is down; the viewer needs it."""
    if sys.platform != "linux":
        return
    import fcntl

    # SIOCGIFFLAGS and SIOCSIFFLAGS; the flags are up and running.
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as tap:
        [flags] = struct.unpack_from("16xH", fcntl.ioctl(tap, 0x8913, struct.pack("16sH14x", b"lo", 0)))
        fcntl.ioctl(tap, 0x8914, struct.pack("16sH14x", b"lo", flags | 0x41))


def check_cut() -> None:
    """An address of the block for documentation must not be reachable, and at once."""
    try:
        socket.create_connection(("192.0.2.1", 80), timeout=2).close()
    except TimeoutError:
        sys.exit("WRONG: the network is not cut")
    except OSError:
        return
    sys.exit("WRONG: the network is not cut")


def list_commands() -> list[tuple[str, ...]]:
    """All commands, those of groups included."""
    from ragstone.cli.app import app

    found: list[tuple[str, ...]] = []
    for name, command in app.commands.items():
        inner = getattr(command, "commands", None)
        found += [(name, each) for each in inner] if inner else [(name,)]
    return found


def shows_help(command: tuple[str, ...]) -> bool:
    """Whether `--help` prints a usage line and exits with 0; in this process, for speed."""
    from ragstone.cli import main as ragstone

    printed, sys.argv = io.StringIO(), ["ragstone", *command, "--help"]
    try:
        with contextlib.redirect_stdout(printed):
            ragstone()
    except SystemExit as left:
        return not left.code and "Usage:" in printed.getvalue()
    return "Usage:" in printed.getvalue()


def succeeds(line: str, harbour: str) -> bool:
    """Whether the command ends with the expected exit code; its output is shown if not."""
    words, _, code = line.partition(" => ")
    command = [word.replace("HARBOUR", harbour) for word in words.split()]
    done = subprocess.run([find_program(), *command], capture_output=True, text=True, check=False)
    if done.returncode == int(code or 0):
        return True
    say(f"$ ragstone {words}\n{done.stdout[-2000:]}{done.stderr[-2000:]}exit code {done.returncode}")
    return False


def serves() -> bool:
    """Whether the viewer shows the runs."""
    command = [find_program(), "view", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        printed = ""
        for line in server.stdout or ():
            printed += line
            if "http://" in line:
                url = line[line.index("http://") :].split()[0]
                opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
                with opener.open(url, timeout=30) as reply:
                    return "harbour-worse" in reply.read().decode()
        say(printed)
        return False
    except OSError as error:
        say(f"{printed}{error}")
        return False
    finally:
        server.kill()
        server.wait()


def find_program() -> str:
    """The installed entry point."""
    return shutil.which("ragstone", path=os.path.dirname(sys.executable)) or sys.exit("WRONG: there is no ragstone")


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"  {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
