"""all-MiniLM-L6-v2: the numbers of torch, whatever texts it is computed with, and without a network."""

import asyncio
import subprocess
import sys

import numpy as np
import pytest

from ragstone.errors import StopRunError, StorageError
from ragstone.models import embedders as module
from ragstone.models.embedders import LocalEmbedder, LocalTokenEmbedder, MiniLM
from ragstone.models.store import Installed

# The first six numbers of each vector and the sum of all, by torch 2.13.0 and transformers in double precision:
#   model = AutoModel.from_pretrained(folder).eval(); tokenizer = AutoTokenizer.from_pretrained(folder)
#   states = model(**tokenizer([text], return_tensors="pt")).last_hidden_state[0].double()
#   vector = states.mean(0); vector /= vector.norm(); print(vector[:6], vector.sum())
BY_TORCH = {
    "The light stands on the eastern mole.": (
        [0.0162615, 0.0566969, 0.0187387, 0.0739488, 0.0165532, -0.0469211],
        0.4796803,
    ),
    "Où est le phare ? 東京 — 9½ %": (
        [0.0983963, 0.0278113, 0.0515694, -0.0522334, -0.0060936, 0.0292186],
        -0.1707176,
    ),
    "mole": ([0.0142319, 0.0164048, 0.0039746, 0.1020094, 0.0068474, -0.0762863], 0.5128052),
    "When was the harbour light first lit, and who paid for the tower that carries it today?": (
        [-0.0088225, 0.0844517, 0.0308911, 0.0798196, -0.0034002, -0.0324372],
        0.2427004,
    ),
}
# states[3] / states[3].norm() of the first text: the token "stands".
STANDS = [-0.034954, 0.029700, 0.004436, -0.052472, 0.033636, 0.081832]


@pytest.fixture
def model(minilm):
    return MiniLM(minilm)


def test_vectors_are_those_of_torch(model):
    rows = model.encode(list(BY_TORCH))
    assert rows.shape == (4, 384)
    for row, (first, total) in zip(rows, BY_TORCH.values(), strict=True):
        np.testing.assert_allclose(row[:6], first, atol=1e-5)
        assert float(row.sum(dtype=np.float64)) == pytest.approx(total, abs=1e-5)
        assert float(np.linalg.norm(row)) == pytest.approx(1, abs=1e-6)


def test_pieces_are_those_of_torch(model):
    [pieces, nothing] = model.encode_pieces(["The light stands on the eastern mole.", ""])
    assert pieces.vectors.shape == (8, 384)
    np.testing.assert_allclose(pieces.vectors[2, :6], STANDS, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(pieces.vectors, axis=1), 1)
    the, light, *_, mole, stop = pieces.rarity
    assert the == stop < light < mole
    assert nothing.vectors.shape == (0, 384)


def test_a_text_has_the_same_vector_in_any_company(model):
    texts = [*BY_TORCH, "", "x", "The tower is white. " * 30, "mole"]
    together = model.encode(texts)
    for text, row in zip(texts, together, strict=True):
        np.testing.assert_allclose(model.encode([text])[0], row, atol=1e-6)


@pytest.mark.slow
def test_long_texts_are_read_to_their_end(model):
    head, tail = "The tower is white. " * 100, "Bananas grow in warm countries. " * 100
    both, first, last = model.encode([head + tail, head, tail])
    assert both @ first > 0.5
    assert both @ last > 0.5
    # Some 1,000 windows would be read were there no limit.
    assert np.isfinite(model.encode(["wörter und mehr " * 65_000])).all()
    [pieces] = model.encode_pieces([head + tail])
    assert len(pieces.vectors) == module.MOST_PIECES


def test_meaning_counts(model):
    question, near, far = model.encode(["Where is the lighthouse?", "The beacon stands on the pier.", "I like soup."])
    assert question @ near > question @ far + 0.2


def test_no_text_at_all(model):
    assert model.encode([]).shape == (0, 384)
    assert model.encode_pieces([]) == []


def test_evidence_gets_vectors_of_many_rows_at_once(model, monkeypatch):
    sizes = []
    encode = model.encode
    monkeypatch.setattr(model, "encode", lambda texts: sizes.append(len(texts)) or encode(texts))
    embedder = LocalEmbedder(model)

    async def ask():
        return await asyncio.gather(*(embedder.embed([f"row {row}", "shared"]) for row in range(10)))

    found = asyncio.run(ask())
    assert sizes == [11]
    np.testing.assert_allclose(found[3], encode(["row 3", "shared"]), atol=1e-6)


def copy_of(minilm, folder, **changes):
    """The model with some files changed but of the same size."""
    for file in minilm.files:
        (folder / file).write_bytes(changes.get(file.partition(".")[0], minilm.path(file).read_bytes()))
    return Installed("minilm", folder, "", minilm.files)


def test_a_file_of_the_right_size_and_wrong_content(minilm, tmp_path):
    size, _ = minilm.files["model.onnx"]
    broken = MiniLM(copy_of(minilm, tmp_path, model=b"\xff" * size))
    with pytest.raises(StorageError, match=r"'minilm' cannot be used: model\.onnx: .* ragstone models pull minilm"):
        broken.encode(["x"])
    # It is wrong for all rows alike.
    for ask in (LocalEmbedder(broken).embed, LocalTokenEmbedder(broken).embed_tokens):
        with pytest.raises(StopRunError, match="cannot be used"):
            asyncio.run(ask(["x"]))


def test_a_broken_tokenizer(minilm, tmp_path):
    size, _ = minilm.files["tokenizer.json"]
    with pytest.raises(StorageError, match=r"cannot be used: tokenizer\.json"):
        MiniLM(copy_of(minilm, tmp_path, tokenizer=b"[" + b" " * (size - 1))).encode(["x"])


OFFLINE = """
import socket, sys
def refuse(self, address, *_):
    raise AssertionError(f"a connection to {address}")
socket.socket.connect = socket.socket.connect_ex = refuse
socket.getaddrinfo = lambda *_, **__: (_ for _ in ()).throw(AssertionError("a name was looked up"))
import ragstone
row = {"question": "Where?", "answer": "On the mole.", "references": ["It is on the mole."], "facts": ["on the mole"],
       "contexts": ["The light is on the mole."]}
run = ragstone.evaluate([row], ["semantic_similarity", "bert_score", "wmd", "fact_recall"], matcher="semantic")
assert [line.n_ok for line in run.summary()] == [1, 1, 1, 1], run.summary()
"""


@pytest.mark.slow
def test_with_the_network_cut_everything_works(minilm):
    done = subprocess.run([sys.executable, "-c", OFFLINE], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_run_that_needs_no_model_loads_none(minilm):
    code = (
        "import sys, ragstone\n"
        "row = {'answer': 'On the mole.', 'references': ['It is on the mole.']}\n"
        "assert ragstone.evaluate([row], 'token_f1').summary()['token_f1'].n_ok == 1\n"
        "print(sorted({'onnxruntime', 'onnx', 'tokenizers', 'torch', 'huggingface_hub'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "[]\n"
