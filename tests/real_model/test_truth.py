"""Ground truth by a real model that is far too small for it: nothing breaks, and nothing that does not stand is kept."""

import pytest

from ragstone.data.types import Chunk
from ragstone.formats.documents import Document, Section, make_passages
from ragstone.tools.model_options import ModelOptions
from ragstone.truth.citations.check import check_cases
from ragstone.truth.extract import add_facts, extract
from ragstone.truth.llm_tasks import Work
from ragstone.truth.model import Case
from ragstone.truth.synthesis.pipeline import synthesise
from ragstone.truth.synthesis.writer import Order

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
TEXT = "The last ferry to Verrin leaves at 21:40 from pier 3. Tickets cost 4.50 crowns. No ferries run on 24 December."


def _work(real_model) -> Work:
    return Work("llamacpp/smollm2", ModelOptions(base_url=real_model.base_url, cache=False, timeout_s=240), 2)


def test_extraction_keeps_only_what_stands(real_model):
    passages = [Chunk(TEXT, source="ferry.md")]
    cases = [
        Case("a", "When does the last ferry leave?", ["At 21:40."], passages=passages),
        Case("c", "Who is the captain?", [], passages=passages),
    ]
    found = extract(cases, _work(real_model))
    counts = found.counts
    assert counts["cases"] == 2
    assert (counts["skipped"], counts["failed"] + len(found.found)) == (1, 1)
    named = counts["kept"] + counts["repaired"] + counts["dropped_absent"] + counts["dropped_invalid"]
    assert counts["citations"] == named
    kept = check_cases(add_facts(cases, found, cases))
    assert kept.total.stands == kept.total.checked == counts["facts"]


def test_synthesis_keeps_only_what_passed(real_model):
    passages = make_passages(Document("ferry.md", [Section(TEXT, "Ferries")]))
    made = synthesise(passages, Order(1), _work(real_model))
    assert made.tried == len(made.cases) + len(made.rejected) + len(made.failed) <= 3
    assert all(item.reason for item in made.rejected)
    kept = check_cases(made.cases)
    assert kept.total.stands == kept.total.checked
    assert all(case.facts or not case.answerable for case in made.cases)
