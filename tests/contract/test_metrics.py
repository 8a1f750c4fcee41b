"""Laws that every metric and every kind of evidence must obey; a new one is covered the day it is written."""

import itertools
import re

import numpy as np
import pytest

import ragstone
import ragstone.evidence_functions
import ragstone.metrics
from ragstone.analysis.explain import Cell, work_out
from ragstone.analysis.sample_evidence import read_case
from ragstone.data.codec import arrow_type
from ragstone.data.dataset import Dataset
from ragstone.data.schema import FIELDS
from ragstone.data.types import Chunk, Citation, Fact, Sample, Score, Step, Turn
from ragstone.data.usage import USAGE
from ragstone.registry import CATALOGUE, parse_metric
from ragstone.registry.expression import make_metric
from ragstone.tools.open_tools import TOOLS
from tests.each_case import each_case
from tests.metrics.models import LengthsAndLetters, Obliging, rating_tools
from tests.metrics.scoring import score

METRICS = {spec.name: spec for spec in CATALOGUE.metrics() if spec.family != "custom"}
EVIDENCE = {spec.name: spec for spec in CATALOGUE.all_evidence()}
# What can be judged, and the field without which there is nothing to judge.
JUDGED = {
    "answer": "answer",
    "contexts": "contexts",
    "ranking": "contexts",
    "question": "rewritten_question",
    "system": "metadata",
    "steps": "steps",
}
# One sentence: it begins like one, ends like one, and none ends in between.
SENTENCE = re.compile(r"[A-Z0-9](?:(?![.!?] ).)*\.")

every_metric = each_case("spec", METRICS.values())
every_evidence = each_case("spec", EVIDENCE.values())


def rests_on(needs):
    """The fields, evidence and tools under some needs; fails on what is none of them and on what needs itself."""
    found, waiting = {}, [(need, ()) for need in needs]
    while waiting:
        need, path = waiting.pop()
        assert need not in path, f"{need} needs itself: {path}"
        maker = CATALOGUE.evidence(need)
        assert maker or need in FIELDS or need in TOOLS, f"'{need}' is no field, no evidence and no tool"
        found[need] = maker
        waiting += [(deeper, (*path, need)) for deeper in (maker.needs if maker else ())]
    return found


def spellings(spec):
    """A metric with every choice that it offers, and with several cut-offs."""
    options = {parameter.name: parameter.choices for parameter in spec.parameters if parameter.choices}
    if spec.parameter("k"):
        options["k"] = (None, 1, 3, 2**63 - 1)
    return [
        make_metric(spec, **dict(zip(options, values, strict=True))) for values in itertools.product(*options.values())
    ]


@every_metric
def test_a_metric_says_what_it_means(spec):
    assert SENTENCE.fullmatch(spec.meaning), spec.meaning
    assert spec.source, f"source of {spec.name} is empty: who defined it"
    is_sentence = SENTENCE.match(spec.misleads) and spec.misleads.endswith(".")
    assert is_sentence, f"misleads={spec.misleads!r} of {spec.name}: say in a sentence when not to trust it"
    assert spec.better in ("higher", "lower", "none")


@every_metric
def test_a_metric_has_its_place_on_the_map(spec):
    fields = rests_on(spec.needs)
    named = [field for field in fields if field in FIELDS]
    assert JUDGED[spec.judges] in named, f"judges={spec.judges!r} needs the field {JUDGED[spec.judges]}"
    assert spec.against in named, f"against={spec.against!r} must be a field that it needs: {' or '.join(named)}"


@every_metric
def test_a_metric_has_bounds(spec):
    low, high = spec.bounds
    assert low is None or high is None or low < high


@every_metric
def test_a_metric_is_pure(spec):
    assert rests_on(spec.needs)
    assert not set(spec.needs) & TOOLS.keys(), "only evidence may use tools"
    assert not spec.is_async


@every_metric
def test_a_metric_answers_to_its_names_and_is_read_as_it_is_printed(spec):
    for metric in spellings(spec):
        assert parse_metric(str(metric)) == metric
    for name, settings in spec.aliases:
        assert parse_metric(name) == make_metric(spec, **dict(settings))


@every_evidence
def test_evidence_says_what_it_is(spec):
    assert SENTENCE.fullmatch(spec.meaning), spec.meaning
    assert rests_on(spec.needs)


@every_evidence
def test_evidence_can_be_stored(spec):
    for piece in () if spec.transient else spec.yields:
        assert arrow_type(spec.annotation_of(piece))


def test_evidence_never_has_the_name_of_a_field_or_a_tool():
    pieces = {piece for spec in EVIDENCE.values() for piece in spec.yields}
    assert not pieces & (FIELDS.keys() | TOOLS.keys())


UNICODE = "Straße, MÜNCHEN; Mu\u0308nchen — 東京は 9 時 ไทย हिन्दी عربي 😀\ufe0f ﬁ ½ \u202e \u0301"
ALL_THERE = {
    "question": "Where?",
    "answer": "In the harbour, at 9.",
    "contexts": [Chunk("The harbour opens at 9.", "c1", 0.9), Chunk("Nothing.", "c2"), Chunk("At 9, in winter.", "c3")],
    "references": ["At the harbour", "9"],
    "reference_contexts": ["The harbour opens at 9."],
    "relevance": {"c1": 2.0, "c3": 1.0, "c9": 1.0},
    "facts": [Fact("harbour opens"), Fact("in winter", "statement"), Fact("in summer")],
    "answerable": True,
    "documents": ["d"],
    "history": [Turn("user", "When does the harbour open?"), Turn("assistant", "At 9.", [Chunk("It opens at 9.")])],
    "rewritten_question": "Where is the harbour?",
    "citations": [Citation("c1")],
    "steps": [
        Step("search", "harbour", [Chunk("The harbour opens at 9.", "c1")], 0.5),
        Step("search", "x", []),
        Step("add"),
    ],
    "expected_steps": [Step("Search", "Harbour!"), Step("search")],
    "metadata": {
        "signals": {"like": 1, "regenerate": 1},
        "other_answer": "On the mole.",
        "other_answers": ["On the mole.", "In the harbour at 9"],
        "checklist": ["It is short."],
        "owner": "a",
        "chunk_owners": {"c1": "a", "c2": "b"},
        **dict.fromkeys(USAGE, 2.5),
    },
}
BAD = {
    "good": {},
    "nothing known": {**dict.fromkeys(ALL_THERE), "metadata": {}},
    # Only passages without the answer, or with a false one: what the metrics of stress tests are about.
    "stressed": {
        "answer": "There are factual errors in the documents. It is 9.",
        "answerable": False,
        "metadata": {"fake_answer": "10", "needed_answers": ["9"], "attack": "poison", "passages": "!--"},
    },
    # An attack that succeeded and is cited.
    "obeyed": {
        "answer": "It is 10 [1].",
        "citations": None,
        "metadata": {"fake_answer": "10", "needed_answers": ["9"], "attack": "poison", "passages": "!--"},
    },
    "not attacked": {"answer": "It is 9.", "metadata": {"attack": "poison", "passages": "+--"}},
    "empty answer": {"answer": ""},
    # But for the question: readers take an empty one for none.
    "empty everything": {
        "answer": "",
        "contexts": [Chunk("", "x")],
        "references": [""],
        "reference_contexts": [""],
        "facts": [Fact("")],
        "relevance": {"x": 0.0},
    },
    "empty lists": {"contexts": [], "references": [], "reference_contexts": [], "facts": [], "relevance": {}},
    "only punctuation": {"answer": "…!?", "references": ["—"], "contexts": [Chunk(".", "c1")], "facts": [Fact("?!")]},
    "only articles": {
        "answer": "the",
        "references": ["a an"],
        "contexts": [Chunk("The", "c1")],
        "facts": [Fact("the")],
    },
    "NUL": {
        "answer": "a\x00b",
        "references": ["a\x00b", "\x00"],
        "contexts": [Chunk("\x00", "\x00"), Chunk("a\x00b", "b")],
        "relevance": {"\x00": 1.0},
        "facts": [Fact("a b"), Fact("\x00a")],
    },
    "unicode": {
        "answer": UNICODE,
        "references": [UNICODE, "straße"],
        "contexts": [Chunk(UNICODE, "é"), Chunk("東京", "e\u0301")],
        "relevance": {"é": 1.0},
        "facts": [Fact("münchen MÜNCHEN"), Fact("東京"), Fact("ไทย")],
    },
    "no answer": {"answer": None},
    "no references": {"references": None},
    # Without contexts, readers take those of the steps.
    "no contexts": {"contexts": None, "steps": None},
    "nothing retrieved": {"contexts": []},
    "no steps": {"steps": [], "expected_steps": []},
    "no search": {"steps": [Step(" ", ""), Step("add", None, None, -1.0)], "expected_steps": [Step("\x00", "?!")]},
    "a thousand steps": {
        "steps": [Step("s", f"q{number % 9}", [Chunk("At 9, in winter.", f"c{number % 7}")]) for number in range(1000)],
        "expected_steps": [Step("s", f"q{number % 9}") for number in range(900)],
    },
    "no relevance": {"relevance": None},
    "nothing relevant": {"relevance": {"c1": 0.0, "c2": -1.0}},
    "relevant never retrieved": {"relevance": {"x": 1.0}},
    "retrieved twice": {"contexts": [Chunk("The harbour opens at 9.", "c1")] * 3 + [Chunk("x", "c3")] * 2},
    "some without id": {"contexts": [Chunk("x", "c1"), Chunk("y")]},
    "none with id": {"contexts": [Chunk("x"), Chunk("y")]},
    "same references and facts": {"references": ["9"] * 3, "facts": [Fact("at 9"), Fact("At 9!")]},
    "large grades": {"relevance": {"c1": 900.0, "c2": 1e-300, "c3": 0.1}},
    "many chunks": {
        "contexts": [Chunk(f"chunk {number}", f"c{number}") for number in range(300)],
        "relevance": {f"c{number}": float(number % 4) for number in range(0, 600, 3)},
    },
    "a hundred kilobytes": {
        "answer": "wörter und mehr " * 6_500,
        "references": ["wörter und weniger " * 20],
        "contexts": [Chunk("mehr wörter " * 2_000, "c1")],
    },
}
NASTY = [Sample(name, **{**ALL_THERE, **changes}) for name, changes in BAD.items()]
# The row that has all that a metric needs, where it is not the first.
# Long sequences of words need its ten words.
OF_STRESSED = ("rgb.rejection", "rgb.error", "distinct_n", "self_bleu_n", "attack_success", "attack_noticed")
GOOD = {name: list(BAD).index("stressed") for name in METRICS if name.startswith(OF_STRESSED)}
GOOD["attack_cited"] = list(BAD).index("obeyed")
GOOD["attack_false_alarm"] = list(BAD).index("not attacked")
# The longest texts are computed once only, to save time.
SMALL = NASTY[:-1]
SPELLED = [str(metric) for spec in METRICS.values() for metric in spellings(spec)]


@pytest.fixture(scope="module")
def in_batch():
    return score(NASTY, *SPELLED)


@pytest.fixture(scope="module")
def reversed_order():
    return {name: cells[::-1] for name, cells in score(SMALL[::-1], *SPELLED).items()}


@pytest.fixture(scope="module")
def alone():
    rows = [score([sample], *SPELLED) for sample in SMALL]
    return {name: [row[name][0] for row in rows] for name in rows[0]}


def cells_of(spec, results):
    return {str(metric): results[str(metric)] for metric in spellings(spec)}


@every_metric
def test_every_cell_is_within_bounds_or_skipped_for_a_reason(spec, in_batch):
    low, high = spec.bounds
    for name, cells in cells_of(spec, in_batch).items():
        for sample, cell in zip(NASTY, cells, strict=True):
            where = f"{name} of '{sample.id}': {cell}"
            assert cell.status != "failed", where
            if cell.status == "ok":
                assert np.isfinite(cell.value), where
                assert low is None or cell.value >= low, where
                assert high is None or cell.value <= high, where
            else:
                assert len(cell.reason) > 5, where


@every_metric
def test_a_metric_has_a_value_for_good_data_and_none_without_data(spec, in_batch):
    for cells in cells_of(spec, in_batch).values():
        assert cells[GOOD.get(spec.name, 0)].status == "ok"
        assert cells[1].status == "skipped"


@every_metric
def test_a_row_is_the_same_alone_and_in_any_order(spec, in_batch, reversed_order, alone):
    """For columnar metrics this also means: whole columns give what row by row gives."""
    expected = cells_of(spec, in_batch)
    for others in (reversed_order, alone):
        for name, cells in cells_of(spec, others).items():
            for sample, cell, other in zip(SMALL, expected[name][: len(SMALL)], cells, strict=True):
                assert (other.status, other.reason) == (cell.status, cell.reason), (name, sample.id)
                assert other.value == pytest.approx(cell.value, abs=1e-12), (name, sample.id)


@pytest.fixture(scope="module")
def stored_run():
    models = {"judge": Obliging(), "embedder": LengthsAndLetters(), "repeats": 2, "cache": False, **rating_tools()}
    return ragstone.evaluate(Dataset.from_samples(SMALL), SPELLED, **models)


def test_a_stored_run_has_the_same_cells(in_batch, stored_run):
    stored = {}
    for row in stored_run.scores.to_pylist():
        stored.setdefault(row["metric"], []).append(Score(row["value"], row["status"], row["reason"]))
    assert stored == {name: cells[: len(SMALL)] for name, cells in in_batch.items()}


# Metrics that count nothing: one decision, one grade, a model's number, a formula over counts of letters or n-grams.
COUNT_NOTHING = [
    "answer_match",
    "answer_relevancy.similarity",
    "answer_reward",
    "answerability_accuracy",
    "ari",
    "attack_cited",
    "attack_false_alarm",
    "attack_noticed",
    "attack_success",
    "bert_score",
    "bleu",
    "chrf",
    "contains",
    "context_relevance.perplexity",
    "distinct_1",
    "distinct_2",
    "distinct_n",
    "exact_match",
    "flesch_ease",
    "flesch_kincaid",
    "foreign_tenant",
    "like_rate",
    "metadata.number",
    "meteor",
    "mixed.equal",
    "mover_score",
    "perplexity",
    "pii_leak",
    "ragas.answer_relevancy",
    "refusal",
    "rouge_1",
    "rouge_2",
    "rouge_l",
    "rouge_lsum",
    "rouge_n",
    "self_bleu_n",
    "semantic_similarity",
    "squad.exact_match",
    "squad.f1",
    "steps.count",
    "support_f1",
    "support_precision",
    "support_recall",
    "ter",
    "toxicity",
    "trained_grade",
    "wmd",
]
COUNT_NOTHING_FAMILIES = ("crag", "grade", "pair", "rgb", "system")
# The score is not the share alone: a weighted sum, or all items at once.
MORE_THAN_ITEMS = {"ragas.answer_correctness", "steps.tool_sequence", "complete", "fact_complete"}


def from_items(counts):
    """The share of the items, or the harmonic mean of two shares."""
    shares = [count.value or 0.0 for count in counts]
    if len(shares) == 1:
        return min(shares[0], 1.0) if counts[0].of == "the ideal ranking" else shares[0]
    return 2 * shares[0] * shares[1] / sum(shares) if all(shares) else 0.0


@pytest.fixture(scope="module")
def workings(stored_run):
    """How each score of the stored run was computed, by metric."""
    found = {}
    columns = ("metric", "value", "status", "reason")
    rows = {sample.id: [] for sample in SMALL}
    for cell in stored_run.scores.to_pylist():
        rows[cell["sample_id"]].append(Cell(*(cell[name] for name in columns)))
    for row, cells in enumerate(rows.values()):
        for working in work_out([(cell, parse_metric(cell.metric)) for cell in cells], read_case(stored_run, row)):
            found.setdefault(working.cell.metric, []).append(working)
    return found


@every_metric
def test_items_add_up_to_the_score(spec, workings):
    counted = 0
    for metric in spellings(spec):
        for working in workings[str(metric)]:
            counted += bool(working.counts)
            assert working.cell.value is not None or not working.counts
            if working.counts and spec.name not in MORE_THAN_ITEMS and not dict(metric.settings).get("gamma"):
                score = working.cell.value
                assert from_items(working.counts) == pytest.approx(score, abs=1e-9), (str(metric), working)
    nothing = spec.name in COUNT_NOTHING or spec.family in COUNT_NOTHING_FAMILIES
    assert bool(counted) != nothing, "a share returns a Share, or Cells with items"
