"""`python -m benchmarks.peers.runner PEER DATA`: one turn of a peer in this environment; prints seconds and values."""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module


def main(name: str, data: str) -> None:
    """One untimed call first, so that imports and caches do not count."""
    peer = import_module(f"benchmarks.peers.{name}")
    with open(data, encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    peer.work(peer.prepare(rows[:100]))
    prepared = peer.prepare(rows)
    started = time.process_time()
    values = peer.work(prepared)
    seconds = time.process_time() - started
    json.dump({"seconds": seconds, "values": values}, sys.stdout)


main(*sys.argv[1:])
