"""A user's system as a command: the question as JSON on standard input or in place of `{question}`, the answer on standard output.

No shell is involved: the command is split into its arguments once, and a question is never more than one of them.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shlex
import signal
import time
from contextlib import suppress
from typing import Any

from ragstone.errors import UsageError
from ragstone.llm.answers import Answer, read_answer, write_answer
from ragstone.llm.base import Reply, Request
from ragstone.llm.failures import LLMAccessError, LLMError
from ragstone.llm.hiding import hide_secrets

_SLOT = "{question}"
_LONGEST_WORDS = 200


class CommandSystem:
    """Starts the command anew for every question."""

    takes_contexts = True

    def __init__(self, line: str, timeout_s: float) -> None:
        try:
            self._arguments = shlex.split(line)
        except ValueError as error:
            raise UsageError(f"the command cannot be split into words: {error}") from None
        if not self._arguments:
            raise UsageError("the command is empty. Write it as cmd:./my-rag --k 5")
        self._timeout_s = timeout_s
        self._name = f"command/{os.path.basename(self._arguments[0])}"

    @property
    def name(self) -> str:
        """The name of the program."""
        return self._name

    @property
    def signature(self) -> str:
        """The whole command with a hash of the files that it names: an edited script is another system."""
        digest = hashlib.blake2b(json.dumps(self._arguments).encode(), digest_size=6)
        for argument in self._arguments:
            if os.path.isfile(argument):
                with open(argument, "rb") as stream:
                    digest.update(stream.read())
        return f"{self._name}#{digest.hexdigest()}"

    async def complete(self, request: Request) -> Reply:
        """The answer to one question, as JSON."""
        asked = json.loads(request.messages[-1].content)
        started = time.perf_counter()
        answer = _read_output(await self._run(asked), self._name)
        cost = answer.metadata.get("cost_usd")
        return Reply(
            write_answer(answer),
            self._name,
            cost_usd=float(cost) if isinstance(cost, int | float) else None,
            latency_s=time.perf_counter() - started,
        )

    async def close(self) -> None:
        """Nothing to close: every process has ended."""

    async def _run(self, asked: dict[str, Any]) -> str:
        arguments = [argument.replace(_SLOT, asked["question"]) for argument in self._arguments]
        process = await self._start(arguments)
        given = json.dumps(asked, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        try:
            async with asyncio.timeout(self._timeout_s):
                output, complaints = await process.communicate(given)
        except TimeoutError:
            raise LLMError(f"{self._name} gave no answer in {self._timeout_s:g} s") from None
        finally:
            await _end(process)
        if process.returncode:
            raise LLMError(f"{self._name} ended with {process.returncode}{_last_line(complaints)}")
        return output.decode("utf-8", "replace").strip()

    async def _start(self, arguments: list[str]) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        try:
            return await asyncio.create_subprocess_exec(
                *arguments, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
            )
        except FileNotFoundError:
            raise LLMAccessError(f"there is no program '{self._arguments[0]}'. Check the command.") from None
        except PermissionError:
            raise LLMAccessError(f"'{self._arguments[0]}' may not be run: make it executable.") from None
        except (OSError, ValueError) as error:
            raise LLMError(f"{self._name} cannot be started for this question: {error}") from None


async def _end(process: asyncio.subprocess.Process) -> None:
    """A command that is given up ends, with whatever it has started."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:  # Windows has no groups of processes
                process.kill()
        await process.wait()


def _read_output(output: str, name: str) -> Answer:
    """A JSON object is an answer with its contexts; everything else is the answer's text."""
    if output.startswith("{"):
        with suppress(ValueError):
            return read_answer(json.loads(output), name)
    return Answer(output)


def _last_line(complaints: bytes) -> str:
    lines = complaints.decode("utf-8", "replace").strip().splitlines()
    return f": {hide_secrets(lines[-1].strip())[:_LONGEST_WORDS]}" if lines else ""
