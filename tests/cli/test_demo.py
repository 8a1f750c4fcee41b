"""The shipped example."""

import os
import re
import signal
import subprocess
import sys
import urllib.request

import pytest


def test_the_second_system_suggests_the_comparison(cli, home):
    assert "ragstone demo worse -o 'my store'" in cli("demo", "-o", "my store").out.replace("\n", " ")
    worse = cli("demo", "worse", "-o", "my store").out
    assert "compare harbour-worse harbour-better -o 'my store'" in worse
    compared = cli("compare", "harbour-worse", "harbour-better", "-o", "my store")
    assert compared.code == 0
    assert "gate harbour-better --against harbour-worse --max-new-failures 0 -o 'my store'" in compared.out


def test_the_chat_explains_its_wrong_turn(cli, home):
    chat = cli("demo", "chat", "-o", "store").out
    assert "explain harbour-chat c2-2 -o store" in chat
    assert "away for overhaul" in cli("explain", "harbour-chat", "c2-2", "-o", "store").out


def test_it_ends_with_the_worst_sample_and_the_command_that_opens_it(cli, home):
    printed = cli("demo", "-o", "store").out
    assert "Most wrong rows seem to point to the retriever (3 of 5)" in printed
    sample = re.search(r"^(h\d\d)  (?:wrong|look) \(\d+ %\)", printed, flags=re.MULTILINE)[1]
    assert f"ragstone view store --open --run harbour-better --sample {sample}" in printed.replace("\n", " ")


@pytest.mark.slow
def test_open_serves_the_worst_sample_without_a_browser(tmp_path):
    """A real process on a machine without a display: it prints the address, serves it and ends with Ctrl-C."""
    plain = {
        name: text for name, text in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY", "RAGSTONE_ROOT")
    }
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "ragstone", "demo", "--open", "-q"],
        cwd=tmp_path,
        env=plain,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        lines = iter(process.stdout.readline, "")
        address = next(match[1] for line in lines if (match := re.match(r"open (http://127.0.0.1:\d+/\S+)", line)))
        assert "no browser" in next(lines)
        with urllib.request.urlopen(address) as page:
            assert page.status == 200
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        process.stdout.close()
