"""The offline judge: what it is given, what its outputs mean, and what is said about files that are no judge."""

import asyncio
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from ragstone.errors import StopRunError, StorageError, UsageError
from ragstone.models.local_judge import Judgements, Pair, find_local_judge, open_local_judge, read_card
from tests.models.toy_judge import make_toy_judge

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install 'ragstone[local]'")
pytest.importorskip("onnx", reason="onnx is not installed")

LIGHT = "The light stands on the mole."
FOG = "The fog horn is red and loud."


@pytest.fixture
def folder(tmp_path, monkeypatch):
    made = make_toy_judge(tmp_path / "toy", [LIGHT, FOG, "where"])
    monkeypatch.setenv("RAGSTONE_LOCAL_JUDGE", str(made))
    return made


def sigmoid(value):
    return 1 / (1 + math.exp(-value))


def test_its_numbers_are_those_of_the_card(folder):
    judge = Judgements(open_local_judge())
    # 4 of 6 tokens (the full stop is one, and unknown): 16 × 5/7 − 10, where 7 counts the stop.
    [support] = asyncio.run(judge.support([(LIGHT, "The light stands on the horn.")]))
    found = 5 / 7
    odds = (16 * found - 10) - math.log(1 + math.exp(-6))
    assert support.supported == pytest.approx(sigmoid(odds), abs=1e-5)
    [share] = asyncio.run(Judgements(open_local_judge()).fraction([(LIGHT, "light horn")]))
    assert share == pytest.approx((sigmoid(10 * 0.5 - 5) + 0.5) / 2, abs=1e-5), "half by the model, half by words"
    matches = asyncio.run(Judgements(open_local_judge()).match("Where?", ["mole", "horn"], "mole"))
    assert matches == pytest.approx([sigmoid(6), sigmoid(-10)], abs=1e-5)


def test_a_denial_is_a_contradiction(folder):
    [denied] = asyncio.run(Judgements(open_local_judge()).support([(LIGHT, "The light stands not on the mole.")]))
    assert denied.supported < 0.5
    assert denied.contradicted > 0.9


def test_company_changes_nothing(folder):
    judge = open_local_judge()
    pairs = [Pair("support", LIGHT, FOG), Pair("match", FOG, LIGHT), Pair("support", LIGHT * 100, "light " * 300)]
    together = judge.run(pairs)
    for pair, outputs in zip(pairs, together, strict=True):
        [alone] = judge.run([pair])
        assert alone.tolist() == outputs.tolist()


def test_no_pair_is_computed_twice(folder, monkeypatch):
    judge, seen = open_local_judge(), []
    run = judge.run
    monkeypatch.setattr(judge, "run", lambda pairs: seen.extend(pairs) or run(pairs))

    async def ask():
        judgements = Judgements(judge)
        await asyncio.gather(*(judgements.support([(LIGHT, FOG), (LIGHT, LIGHT)]) for _ in range(5)))

    asyncio.run(ask())
    assert len(seen) == 2


def test_marks_in_a_text_are_text_and_long_texts_are_cut(folder):
    judge = open_local_judge()
    [plain] = judge.run([Pair("support", "[SEP] light [CLS] " + "mole " * 5000, "light")])
    assert plain[1] == pytest.approx(16 - 10)


def test_it_signs_with_version_and_weights(folder):
    judge = open_local_judge()
    checksum = json.loads((folder / "card.json").read_text())["files"]["model.onnx"]["sha256"]
    assert judge.signature == f"local-judge/toy#{checksum[:8]}"


def test_a_file_cut_in_half_is_told_before_anything_runs(folder):
    whole = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StorageError, match=r"'local-judge' is broken: model.onnx has .* bytes"):
        open_local_judge()
    assert find_local_judge() is None


def test_a_wrong_checksum_stops_the_run(folder):
    whole = bytearray((folder / "model.onnx").read_bytes())
    whole[-1] ^= 1
    (folder / "model.onnx").write_bytes(whole)
    judge = Judgements(open_local_judge())
    with pytest.raises(StopRunError, match=r"model.onnx.*checksum.*RAGSTONE_LOCAL_JUDGE"):
        asyncio.run(judge.support([(LIGHT, FOG)]))


def test_a_model_of_another_kind_is_no_judge(tmp_path, monkeypatch):
    from onnx import TensorProto, helper, save

    folder = make_toy_judge(tmp_path / "toy", [LIGHT])
    value = (
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [1]),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, [1]),
    )
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "other", [value[0]], [value[1]])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), folder / "model.onnx")
    card = json.loads((folder / "card.json").read_text())
    from ragstone.models.fetch import checksum_of

    card["files"]["model.onnx"] = {
        "bytes": (folder / "model.onnx").stat().st_size,
        "sha256": checksum_of(folder / "model.onnx"),
    }
    (folder / "card.json").write_text(json.dumps(card))
    monkeypatch.setenv("RAGSTONE_LOCAL_JUDGE", str(folder))
    with pytest.raises(StorageError, match="is not a judge"):
        open_local_judge().run([Pair("support", "a", "b")])


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 1}'])
def test_a_broken_card_is_told_with_its_place(tmp_path, text):
    (tmp_path / "card.json").write_text(text)
    with pytest.raises(StorageError, match=r"the local judge's card cannot be read: .*card.json"):
        read_card(tmp_path)


def test_a_folder_without_a_card_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_LOCAL_JUDGE", str(tmp_path))
    with pytest.raises(StorageError, match=r"the local judge has no card\.json"):
        open_local_judge()


def test_switched_off_it_is_not_found_and_by_name_only_where_it_is_shipped(monkeypatch, tmp_path):
    monkeypatch.setenv("RAGSTONE_LOCAL_JUDGE", "off")
    assert find_local_judge() is None
    monkeypatch.setattr("ragstone.models.store._SHIPPED", tmp_path)
    with pytest.raises(UsageError, match="no weights of the local judge"):
        open_local_judge()


def test_confidence_for_an_agreement_comes_from_what_was_measured(tmp_path):
    steps = [
        {"agreement": 0.85, "confidence": 0.5, "share": 1.0},
        {"agreement": 0.93, "confidence": 0.8, "share": 0.7},
        {"agreement": 0.97, "confidence": 0.95, "share": 0.4},
    ]
    card = read_card(make_toy_judge(tmp_path, [LIGHT], ladder={"support": steps}))
    assert card.confidence_for("support", 0.8) == 0.5, "all decisions agree that often"
    assert card.confidence_for("support", 0.94) == 0.95
    assert card.confidence_for("support", 0.99) == 1.0, "it was never that good: everything is passed on"
    assert card.confidence_for("match", 0.9) == 0.9, "nothing measured: its probabilities are taken at their word"


def test_looking_for_it_loads_no_engine(folder):
    code = (
        "import sys, ragstone.tools.open_tools as j; tools = j.ToolFactory({}, 1).tools; assert 'checker' in tools, tools; "
        "sys.exit(any(name in sys.modules for name in ('onnxruntime', 'tokenizers', 'onnx')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.slow
def test_natural_claims_of_other_writers():
    """The figures of docs/trust.md: nothing was trained, fitted or chosen on these claims."""
    lines = (Path(__file__).parent / "natural_claims.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["lang"] == "en"]
    judge = Judgements(open_local_judge())
    found = [one.supported for one in asyncio.run(judge.support([(row["evidence"], row["claim"]) for row in rows]))]
    is_supported = [row["label"] == "supported" for row in rows]
    right = sum((likely >= 0.5) == label for likely, label in zip(found, is_supported, strict=True))
    yes, no = ([p for p, label in zip(found, is_supported, strict=True) if label is kind] for kind in (True, False))
    area = sum((one > other) + (one == other) / 2 for one in yes for other in no) / (len(yes) * len(no))
    print(f"\n{right} of {len(rows)} right, area {area:.3f}")
    assert len(rows) == 160
    assert 117 <= right <= 127, "say so in docs/trust.md"
    assert area == pytest.approx(0.79, abs=0.02)
