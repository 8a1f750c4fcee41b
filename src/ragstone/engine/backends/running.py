"""The parts that are still to do, given to many workers; how far they are, and what stopped them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ragstone.engine.backends.worker import Done, Kit
from ragstone.engine.parts import Part, cut_parts, open_samples
from ragstone.engine.planning import Plan
from ragstone.engine.progress import Meter, Report
from ragstone.errors import StopRunError
from ragstone.storage.runs import RunFolder

Workers = Callable[[Kit, Sequence[Part]], Iterable[Done]]


def run_parts(plan: Plan, folder: RunFolder, kit: Kit, workers: Workers, progress: Report) -> int:
    """Have the parts computed that are not there yet; returns how many there are in all."""
    with folder.samples.open_input() as stream:
        samples = open_samples(folder, stream)
        parts = list(cut_parts(samples, plan))
        rows = samples.metadata.num_rows
    finished = folder.finished_parts()
    meter = Meter(plan, rows, progress)
    meter.add_rows(sum(part.rows for part in parts if part.number in finished))
    left = [part for part in parts if part.number not in finished]
    if left:
        for done in workers(kit, left):
            if done.problem is not None:
                raise StopRunError(done.problem)
            meter.add_rows(done.rows)
    return len(parts)
