"""Answers as they come in, line by line, so that a collection that was killed goes on where it stood."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from typing import IO

from ragstone.errors import StorageError
from ragstone.llm.answering import Asked, Outcome
from ragstone.llm.answers import Answer, read_answer, write_answer
from ragstone.llm.failures import LLMError


class Journal:
    """A file of answers by one system; those of another one, and a last line that was cut off, do not count."""

    def __init__(self, path: str, signature: str) -> None:
        self.path = path
        self._head = json.dumps({"journal": 1, "system": signature}).encode() + b"\n"
        self._stream: IO[bytes] | None = None

    def read(self) -> dict[str, Answer]:
        """The answers of the same system that are there already, by the key of their question."""
        try:
            with open(self.path, "rb") as stream:
                lines = stream.read().splitlines(keepends=True)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StorageError(f"cannot read {self.path}: {error.strerror}") from None
        if lines[:1] != [self._head]:
            return {}
        found: dict[str, Answer] = {}
        for line in lines[1:]:
            with suppress(ValueError, KeyError, TypeError, LLMError):
                entry = json.loads(line)
                found[entry["key"]] = read_answer(entry["reply"], "the journal")
        return found

    def start(self, keep: bool) -> None:
        """Begin to write, after what is there or anew."""
        try:
            os.makedirs(os.path.dirname(os.path.abspath(self.path)), exist_ok=True)
            self._stream = open(self.path, "r+b" if keep else "wb")  # noqa: SIM115  (closed by `close`)
            if keep:
                content = self._stream.read()
                # A line without its end was cut off by a kill.
                self._stream.seek(content.rfind(b"\n") + 1)
                self._stream.truncate()
            else:
                self._stream.write(self._head)
        except OSError as error:
            raise StorageError(f"cannot write {self.path}: {error.strerror}") from None

    def add(self, outcome: Outcome) -> None:
        """Keep an answer; a failure is not kept, so that it is asked for again."""
        if self._stream is None or outcome.answer is None:
            return
        entry = {"key": key_of(outcome.asked), "reply": json.loads(write_answer(outcome.answer))}
        try:
            self._stream.write(json.dumps(entry).encode() + b"\n")
            self._stream.flush()
        except OSError as error:
            raise StorageError(f"cannot write {self.path}: {error.strerror}") from None

    def close(self) -> None:
        """Finish writing; the file stays."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def remove(self) -> None:
        """All is answered: the file has served."""
        self.close()
        with suppress(FileNotFoundError):
            os.remove(self.path)


def key_of(asked: Asked) -> str:
    """What an answer belongs to: an edited question is another one."""
    content = json.dumps([asked.id, asked.question, asked.documents])
    return hashlib.blake2b(content.encode(), digest_size=10).hexdigest()
