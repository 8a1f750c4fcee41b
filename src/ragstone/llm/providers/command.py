"""A user's system as a command. The question is JSON on standard input, or replaces `{question}`; the answer is read from stdout.

No shell is used. The command is split into arguments once, and a question is always a single argument. A parameter replaces
its name in braces, and is an environment variable: `top_k` is RAGSTONE_PARAM_TOP_K.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import shlex
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ragstone.data.codec import load_json
from ragstone.errors import UsageError
from ragstone.llm.answers import Answer, read_answer, reply_with
from ragstone.llm.base import LLMAccessError, LLMError, Reply, Request
from ragstone.llm.endpoints import hide_secrets

_SLOT = re.compile(r"\{(\w+)\}")
_VARIABLE = "RAGSTONE_PARAM_"
_MAX_MESSAGE = 200


class CommandSystem:
    """Starts the command once per question."""

    def __init__(self, line: str, timeout_s: float, parameters: Mapping[str, Any] | None = None) -> None:
        try:
            # On Windows a backslash is part of a path, and quotes stay around words.
            words = shlex.split(line, posix=os.name != "nt")
            self._arguments = [word.strip('"') for word in words] if os.name == "nt" else words
        except ValueError as error:
            raise UsageError(f"the command cannot be split into words: {error}") from None
        if not self._arguments:
            raise UsageError("the command is empty. Write, for example, cmd:./my-rag --k 5")
        self._timeout_s = timeout_s
        self._parameters = {
            name: (value if isinstance(value, str) else json.dumps(value)) for name, value in (parameters or {}).items()
        }
        self.name = f"command/{os.path.basename(self._arguments[0])}"

    @property
    def signature(self) -> str:
        """The command with a hash of the files that it names, so that an edited script has a new signature."""
        digest = hashlib.blake2b(json.dumps(self._arguments).encode(), digest_size=6)
        if self._parameters:
            digest.update(json.dumps(sorted(self._parameters.items())).encode())
        for argument in self._fill({}):
            if os.path.isfile(argument):
                with open(argument, "rb") as stream:
                    digest.update(stream.read())
        return f"{self.name}#{digest.hexdigest()}"

    async def complete(self, request: Request) -> Reply:
        """Return the answer to one question, as JSON."""
        started = time.perf_counter()
        output = await self._run(json.loads(request.messages[-1].content))
        return reply_with(_read_output(output, self.name), self.name, started)

    async def close(self) -> None:
        """Do nothing: every process has ended."""

    async def _run(self, asked: dict[str, Any]) -> str:
        process = await self._start(self._fill({"question": asked["question"]}))
        line = json.dumps(asked, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        try:
            async with asyncio.timeout(self._timeout_s):
                output, errors = await process.communicate(line)
        except BaseException as error:
            # Also if the command has ended: a child of it may still have its pipes.
            await _kill(process)
            if isinstance(error, TimeoutError):
                raise LLMError(f"{self.name} sent no answer within {self._timeout_s:g} s") from None
            raise
        if process.returncode:
            lines = errors.decode("utf-8", "replace").strip().splitlines()
            last = f": {hide_secrets(lines[-1].strip())[:_MAX_MESSAGE]}" if lines else ""
            raise LLMError(f"{self.name} exited with {process.returncode}{last}")
        return output.decode("utf-8", "replace").strip()

    def _fill(self, values: Mapping[str, str]) -> list[str]:
        """The arguments with the values in place of their names in braces; values are not filled again."""
        known = {**self._parameters, **values}
        return [_SLOT.sub(lambda slot: known.get(slot[1], slot[0]), argument) for argument in self._arguments]

    async def _start(self, arguments: list[str]) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        variables = {f"{_VARIABLE}{name.upper()}": value for name, value in self._parameters.items()}
        try:
            return await asyncio.create_subprocess_exec(
                *arguments,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                start_new_session=True,
                env={**os.environ, **variables},
            )
        except FileNotFoundError:
            raise LLMAccessError(f"the program '{self._arguments[0]}' does not exist. Check the command.") from None
        except PermissionError:
            raise LLMAccessError(f"'{self._arguments[0]}' is not executable.") from None
        except (OSError, ValueError) as error:
            raise LLMError(f"{self.name} cannot be started for this question: {error}") from None


async def _kill(process: asyncio.subprocess.Process) -> None:
    """Kill a command that did not finish, with its child processes, and close its pipes."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        elif process.returncode is None:  # Windows has no process groups
            process.kill()
    try:
        await process.wait()
    finally:
        # A process that left the group may keep the pipes open. Also if the deadline of the run ends the wait.
        process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001  (asyncio has no public way)
    await asyncio.sleep(0)


def _read_output(output: str, name: str) -> Answer:
    """Read a JSON object as an answer with contexts, and anything else as the text of the answer."""
    if output.startswith("{"):
        with suppress(ValueError):
            return read_answer(load_json(output), name)
    return Answer(output)
