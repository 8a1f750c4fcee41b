"""A watch made for tests: real runs with known rates per stratum and day."""

from datetime import date, timedelta

import numpy as np
import pytest

import ragstone
from ragstone.watch.store import PeriodRecord, WatchStore

METRICS = ("exact_match", "token_f1")
FIRST_DAY = date(2026, 10, 5)


def make_rows(random, day, stratum, rate, count):
    """Questions about ferries whose answers are right with this rate; wrong ones share some words."""
    for number in range(count):
        right = random.random() < rate
        pier = int(random.integers(1, 9))
        said = f"The {number} o'clock ferry leaves from pier {pier}"
        yield {
            "id": f"{day}-{stratum}-{number}",
            "question": f"From which pier does the {number} o'clock ferry leave ({stratum})?",
            "answer": said if right else "From the harbour, I think the old quay",
            "references": [said],
        }


def make_watch(root, rates, draws=12, requests=400, period="day", open_last=False, seed=0):
    """One period per rate: two strata, of which `down` has a tenth of the requests, half of the draws and half the rate."""
    store, random = WatchStore(root), np.random.default_rng(seed)
    store.write_settings({"period": period, "metrics": list(METRICS), "judge": "", "sources": ["logs/*.jsonl"]})
    for at, rate in enumerate(rates):
        day = FIRST_DAY + timedelta(days=at if period == "day" else 7 * at)
        name = f"{day:%Y-%m-%d}" if period == "day" else f"{day:%G-W%V}"
        strata = {"up": (rate, draws), "down": (rate / 2, draws)}
        rows = [
            row for stratum, (share, count) in strata.items() for row in make_rows(random, name, stratum, share, count)
        ]
        run = ragstone.evaluate(rows, list(METRICS), out=root)
        seen = {"up": int(requests * 0.9), "down": requests // 10}
        store.write_period(
            PeriodRecord(
                name,
                seen=seen,
                drawn={"up": draws, "down": draws},
                evaluated={"up": draws, "down": draws},
                runs=(run.id,),
                weights={row["id"]: seen[row["id"].split("-")[-2]] / draws for row in rows},
                strata={row["id"]: row["id"].split("-")[-2] for row in rows},
                complete=not (open_last and at == len(rates) - 1),
                spent_usd=0.0123,
            )
        )
    return store


@pytest.fixture(scope="session")
def ferry(tmp_path_factory):
    """Six good days, then three bad ones, the last of them not complete."""
    return make_watch(tmp_path_factory.mktemp("ferry") / "ferry", [0.95] * 6 + [0.25] * 3, draws=30, open_last=True)
