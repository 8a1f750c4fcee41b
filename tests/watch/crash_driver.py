"""Runs a watch in child processes that kill themselves at each change of the disk in turn.

Nothing but imports happens in the parent, so that a fork is safe. Prints one JSON line per crash point.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from datetime import datetime
from pathlib import Path

from ragstone.errors import StorageError
from ragstone.storage.places import Place
from ragstone.watch import intake
from ragstone.watch.sample_design import Design
from ragstone.watch.store import WatchStore
from ragstone.watch.watch import Settings, Watch, open_watch


def work(home: Path, design: Design, now: str) -> None:
    """One pass, as the command makes it."""
    store = WatchStore(home / "watch")
    settings = Settings((str(home / "logs"),), design, metrics=("refusal",))
    watch = Watch(store, open_watch(store, settings), clock=lambda: datetime.fromisoformat(now))
    watch.clean()
    watch.step()


def go_on(home: Path, design: Design, nows: list[str]) -> None:
    """The passes again, without those before the last one that was recorded: a clock does not go back."""
    for now in nows:
        try:
            work(home, design, now)
        except StorageError as error:
            if "Set the clock" not in str(error):
                raise


def die_at(point: int, is_after: bool) -> None:
    """Kill this process at the given change of the disk, just before or just after it."""
    count = 0

    def wrap(real):
        def call(*arguments, **options):
            nonlocal count
            count += 1
            if count == point and not is_after:
                os.kill(os.getpid(), signal.SIGKILL)
            result = real(*arguments, **options)
            if count == point:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return call

    os.replace = wrap(os.replace)
    for name in ("remove", "remove_folder"):
        setattr(Place, name, wrap(getattr(Place, name)))


def in_child(task) -> int:
    """The exit status of a task in a child process."""
    child = os.fork()
    if not child:
        try:
            task()
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(home: Path, design: Design, nows: list[str], steps: int) -> None:
    intake.MOST_SEGMENTS = 2
    for is_after in (False, True):
        point = 0
        while True:
            point += steps
            shutil.rmtree(home / "watch", ignore_errors=True)

            def crash(point=point, is_after=is_after) -> None:
                die_at(point, is_after)
                for now in nows:
                    work(home, design, now)

            status = in_child(crash)
            assert in_child(lambda: go_on(home, design, nows)) == 0
            shutil.copytree(home / "watch", home / f"done-{point}-{int(is_after)}")
            print(json.dumps({"point": point, "status": status}), flush=True)
            if status == 0:
                break


if __name__ == "__main__":
    main(Path(sys.argv[1]), Design(**json.loads(sys.argv[2])), json.loads(sys.argv[3]), int(sys.argv[4]))
