"""All suspects of a ground truth together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragstone.storage.runs import Run
from ragstone.truth.cases import Case
from ragstone.truth.repair.documents import find_fallen
from ragstone.truth.repair.references import find_conflicting, find_unsupported
from ragstone.truth.repair.suspect import Suspect
from ragstone.truth.repair.systems import find_outvoted


def find_suspects(
    cases: Sequence[Case], runs: Sequence[Run] = (), documents: Mapping[str, str] | None = None
) -> list[Suspect]:
    """Cases whose ground truth is likely wrong, from what is stored: nobody is asked.

    `runs` are stored evaluations of several systems over these cases, `documents` the texts of today by name.
    """
    return [
        *find_outvoted(cases, runs),
        *find_unsupported(cases),
        *find_fallen(cases, documents),
        *find_conflicting(cases),
    ]
