"""Probes that differ in one respect alone."""

from ragstone.agreement.audit_probes import EFFECTS, effect_rows, pair_places
from ragstone.data.types import Chunk, Sample

SAMPLES = [
    Sample(
        id="1",
        question="q?",
        answer="The boat is blue. It sails.",
        contexts=[Chunk("Grass."), Chunk("The boat is blue.")],
    ),
    Sample(id="2", question="r?", answer="Cats sleep.", contexts=[Chunk("Cats sleep. Dogs bark.")]),
]


def test_verdict_probes_change_one_thing():
    rows = {row["id"]: row for row in effect_rows("verdicts", SAMPLES)}
    base, turned = rows["verdicts/0/as it is"], rows["verdicts/0/order of claims"]
    assert base["answer_claims"] == ["The boat is blue.", "It sails."] == turned["answer_claims"][::-1]
    assert base["contexts"] == turned["contexts"]
    first, last = rows["verdicts/0/first"], rows["verdicts/0/position of the chunk"]
    assert [chunk["text"] for chunk in first["contexts"]] == ["The boat is blue.", "Grass."]
    assert first["contexts"] == last["contexts"][::-1]
    assert rows["verdicts/1/format"]["contexts"][0]["text"] == "- Cats sleep.\n- Dogs bark."
    # The second item has the answer to another question; one chunk has no other position.
    assert rows["verdicts/1/as it is"]["answer"] == SAMPLES[0].answer
    assert "verdicts/1/first" not in rows


def test_grade_probes_change_the_answer():
    rows = {row["id"]: row for row in effect_rows("grades", SAMPLES)}
    assert rows["grades/0/order of claims"]["answer"] == "It sails. The boat is blue."
    assert rows["grades/0/format"]["answer"] == "- The boat is blue.\n- It sails."
    assert rows["grades/0/authority"]["answer"].endswith(SAMPLES[0].answer)
    assert rows["grades/0/length"]["answer"].startswith(SAMPLES[0].answer)


def test_pairs_are_found_by_item():
    rows = effect_rows("verdicts", SAMPLES)
    pairs = pair_places("verdicts", rows)
    assert list(pairs) == list(EFFECTS["verdicts"])
    before, after = pairs["position of the chunk"][0]
    assert (rows[before]["id"], rows[after]["id"]) == ("verdicts/0/first", "verdicts/0/position of the chunk")
    assert list(pairs["length"]) == [0, 1]
