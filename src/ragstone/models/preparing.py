"""What is done once to a model that was fetched, so that it can be used quickly and without the framework that made it."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from ragstone.errors import MissingExtraError


class Step(NamedTuple):
    """`check` complains, before anything is fetched, if something is missing; `run` works on the folder of the model."""

    check: Callable[[], None]
    run: Callable[[Path], None]


def _check_onnx() -> None:
    if find_spec("onnx") is None:
        raise MissingExtraError("a local model", "local")


def _bert_to_onnx(folder: Path) -> None:
    """Turn the safetensors of a BERT into an ONNX graph, which holds the same weights and takes their place."""
    from ragstone.models.bert_graph import build_bert_from_files  # noqa: PLC0415

    weights = folder / "model.safetensors"
    (folder / "model.onnx").write_bytes(build_bert_from_files(str(weights), str(folder / "config.json")))
    weights.unlink()


STEPS: dict[str, Step] = {"bert": Step(_check_onnx, _bert_to_onnx)}
