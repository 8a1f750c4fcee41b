"""Language models of the transformers library, where it and torch are installed: causal ones, and encoders with decoders."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ragstone.errors import StorageError, UsageError
from ragstone.models.store import Installed

# Tokens of a text that are looked at, and of what stands before it.
MOST_TOKENS = 512
_LONGEST_TOKEN = 32
_MOST_BEFORE = 1500


def load_from(source: str, kind: str, **settings: Any) -> tuple[Any, Any]:
    """A tokenizer and a model of the library's `AutoModelFor…`, from a folder or the hub; never as pickles."""
    import transformers  # noqa: PLC0415

    local = Path(source).is_dir()
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(source, local_files_only=local)
        chosen = getattr(transformers, kind)
        model = chosen.from_pretrained(source, local_files_only=local, use_safetensors=True, **settings)
    except Exception as error:  # whatever the hub's client, torch and the library raise
        words = " ".join(str(error).split())[:200]
        raise StorageError(f"{source} cannot be loaded: {words}") from error
    return tokenizer, model.float().eval()


def require_torch(name: str, otherwise: str) -> None:
    """Complain before anything is loaded if the libraries are not there."""
    if find_spec("torch") is None or find_spec("transformers") is None:
        raise UsageError(f"{name} needs torch and transformers: pip install torch transformers. {otherwise}")


class Transformers:
    """Loaded when it is first used, from the store or else from the hub's cache or the hub; one text at a time."""

    def __init__(self, name: str, stored: Installed | None = None, signature: str = "") -> None:
        require_torch(name, "Without them: --scorer local")
        self.signature = signature or f"hf/{name}"
        self._name = name
        self._stored = stored
        self._lock = threading.Lock()

    def log_probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
        """For each text, after what stands before it, the natural logarithm of the probability of each of its tokens.

        An encoder reads what stands before; the decoder's own mark of the end is the text's last token, as in unitxt.
        """
        import torch  # noqa: PLC0415

        with self._lock, torch.inference_mode():
            tokenizer, model = self._loaded
            score = self._decode if model.config.is_encoder_decoder else self._continue
            return [score(tokenizer, model, before, text) for before, text in pairs]

    def _decode(self, tokenizer: Any, model: Any, before: str, text: str) -> list[float]:
        import torch  # noqa: PLC0415

        read = self._tokens(tokenizer, before, min(tokenizer.model_max_length, _MOST_BEFORE), marks=True)
        wanted = self._tokens(tokenizer, text, MOST_TOKENS, marks=True)
        if not self._tokens(tokenizer, text, 1, marks=False):
            return []
        logits = model(input_ids=torch.tensor([read]), labels=torch.tensor([wanted])).logits[0]
        return _of(logits, wanted)

    def _continue(self, tokenizer: Any, model: Any, before: str, text: str) -> list[float]:
        import torch  # noqa: PLC0415

        wanted = self._tokens(tokenizer, text, MOST_TOKENS, marks=False)
        if not wanted:
            return []
        # Models without a mark of beginning were trained on texts with the mark of the end between them.
        marks = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id, 0)
        begin = next(mark for mark in marks if mark is not None)
        room = getattr(model.config, "max_position_embeddings", None) or _MOST_BEFORE + MOST_TOKENS
        words = self._tokens(tokenizer, before, max(0, min(_MOST_BEFORE, room - MOST_TOKENS - 8)), marks=False)
        seen = [begin, *words, *self._tokens(tokenizer, "\n", 8, marks=False)]
        logits = model(input_ids=torch.tensor([[*seen, *wanted]])).logits[0]
        return _of(logits[len(seen) - 1 : -1], wanted)

    def _tokens(self, tokenizer: Any, text: str, most: int, marks: bool) -> list[int]:
        clipped = text[: most * _LONGEST_TOKEN]
        encoded = tokenizer(clipped, add_special_tokens=marks, truncation=True, max_length=max(1, most))
        found: list[int] = encoded["input_ids"]
        return found[:most]

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        import transformers  # noqa: PLC0415

        source = str(self._stored.folder) if self._stored else self._name
        try:
            config = transformers.AutoConfig.from_pretrained(source, local_files_only=bool(self._stored))
        except Exception as error:  # as above
            raise StorageError(f"{source} cannot be loaded: {' '.join(str(error).split())[:200]}") from error
        return load_from(source, "AutoModelForSeq2SeqLM" if config.is_encoder_decoder else "AutoModelForCausalLM")


def _of(logits: Any, wanted: Sequence[int]) -> list[float]:
    import torch  # noqa: PLC0415

    logs = torch.log_softmax(logits.double(), dim=-1)
    found: list[float] = logs[torch.arange(len(wanted)), torch.tensor(wanted)].tolist()
    return found
