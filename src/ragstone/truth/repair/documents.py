"""Facts that do not stand in their documents, or no longer do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ragstone.data.types import Chunk
from ragstone.truth.cases import Case
from ragstone.truth.checking import check_cases
from ragstone.truth.repair.suspect import Suspect, Witness


def find_fallen(cases: Sequence[Case], documents: Mapping[str, str] | None = None) -> Iterator[Suspect]:
    """Cases with accepted citations that do not stand in their passages, or in the documents of today where these are given."""
    texts = {_file_name(name): (name, text) for name, text in (documents or {}).items()}
    looked = [_with_documents(case.with_facts(case.accepted_facts), texts) for case in cases]
    fallen: dict[str, list[Witness]] = {}
    for fact in check_cases(looked).fallen:
        witness = Witness(fact.document, fact.citation, f"{fact.check.verdict}: {fact.check.why}")
        fallen.setdefault(fact.case, []).append(witness)
    for case in cases:
        if found := fallen.get(case.id):
            share = f"{len(found)} of {len(case.accepted_facts)}"
            reason = f"{share} facts do not stand in {'the documents' if documents else 'the passages'}"
            yield Suspect("documents", case.id, case.question, reason, found)


def _with_documents(case: Case, texts: Mapping[str, tuple[str, str]]) -> Case:
    """The case with the documents that it names as its passages; with all of them where it names none."""
    if not texts:
        return case
    named = [*case.documents, *(fact.source for fact in case.facts if fact.source)]
    wanted = dict.fromkeys(_file_name(name) for name in named) if named else texts
    passages = [Chunk(texts[name][1], source=texts[name][0]) for name in wanted if name in texts]
    return replace(case, passages=passages) if passages else case


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2].casefold()
