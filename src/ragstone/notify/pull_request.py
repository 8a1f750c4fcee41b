"""Comments on the pull request (GitHub) or merge request (GitLab) of a CI job.

One comment per key: a later job updates the comment of the earlier one. The token comes from the environment and is
never printed. Only comments of the token's own account are updated: the text of a comment does not prove who wrote it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ragstone.engine.execute import run_to_end
from ragstone.http.client import HttpClient, HttpError
from ragstone.http.retry import BusyError, is_busy, read_retry_after, retry
from ragstone.notify.webhook import PATIENCE

_TIMEOUT_S = 20.0
_PER_PAGE = 100
_MOST_PAGES = 10
# GitHub refuses more than 65,536 characters.
_MOST_CHARACTERS = 60_000


@dataclass(frozen=True)
class Conversation:
    """The API of the comments of one pull request or merge request."""

    # GET lists the comments, POST adds one.
    comments: str
    # The address of one comment begins with this.
    comment: str
    update: str
    user: str
    headers: Mapping[str, str]
    client: HttpClient = field(default_factory=lambda: HttpClient(concurrency=1))


class _NotPossible(Exception):  # noqa: N818  (a reason, not an error of the program)
    """The comment cannot be written; the message says why."""


def post_comment(markdown: str, key: str = "gate", environment: Mapping[str, str] | None = None) -> str:
    """Write or update the comment of this key; returns what was done or why not, and never raises."""
    try:
        return run_to_end(_post(markdown, key, os.environ if environment is None else environment))
    except _NotPossible as reason:
        return f"no comment was written: {reason}"


async def _post(markdown: str, key: str, values: Mapping[str, str]) -> str:
    there = _find_conversation(values)
    marker = f"<!-- ragstone {re.sub(r'[^A-Za-z0-9._ -]', '-', key)[:60]} -->"
    body = {"body": _limited(f"{marker}\n{markdown}")}
    try:
        if (earlier := await _find_own(there, marker)) is None:
            await _call(there, "POST", there.comments, body)
            return "commented on the pull request"
        await _call(there, there.update, f"{there.comment}/{earlier}", body)
        return "updated the comment on the pull request"
    finally:
        await there.client.close()


def _find_conversation(values: Mapping[str, str]) -> Conversation:
    if values.get("CI_API_V4_URL"):
        return _find_gitlab(values)
    number = _pull_request_number(values)
    if number is None:
        raise _NotPossible("this job does not belong to a pull request")
    api, repository = values.get("GITHUB_API_URL", ""), values.get("GITHUB_REPOSITORY", "")
    if not api.startswith(("https://", "http://")) or not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        raise _NotPossible("GITHUB_API_URL or GITHUB_REPOSITORY is missing")
    if not (token := values.get("GITHUB_TOKEN")):
        raise _NotPossible("GITHUB_TOKEN is not set. Pass it to the step: GITHUB_TOKEN: ${{ github.token }}")
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
    base = f"{api.rstrip('/')}/repos/{repository}/issues"
    return Conversation(f"{base}/{number}/comments", f"{base}/comments", "PATCH", f"{api.rstrip('/')}/user", headers)


def _find_gitlab(values: Mapping[str, str]) -> Conversation:
    project, number = values.get("CI_PROJECT_ID", ""), values.get("CI_MERGE_REQUEST_IID", "")
    if not project.isdecimal() or not number.isdecimal():
        raise _NotPossible("this job does not belong to a merge request")
    if not (token := values.get("RAGSTONE_GITLAB_TOKEN")):
        raise _NotPossible("RAGSTONE_GITLAB_TOKEN is not set. Use a project access token with the scope api")
    api = values["CI_API_V4_URL"].rstrip("/")
    notes = f"{api}/projects/{project}/merge_requests/{number}/notes"
    return Conversation(notes, notes, "PUT", f"{api}/user", {"PRIVATE-TOKEN": token})


def _pull_request_number(values: Mapping[str, str]) -> int | None:
    """From the ref of the job, otherwise from the event."""
    if match := re.fullmatch(r"refs/pull/(\d+)/(merge|head)", values.get("GITHUB_REF", "")):
        return int(match[1])
    try:
        with open(values.get("GITHUB_EVENT_PATH", ""), encoding="utf-8") as file:
            number = json.load(file)["pull_request"]["number"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return number if isinstance(number, int) else None


async def _find_own(there: Conversation, marker: str) -> int | None:
    """The id of the comment with this marker that the token's account wrote."""
    try:
        user = await _call(there, "GET", there.user)
        login = user.get("login") or user.get("username") if isinstance(user, dict) else None
    except _NotPossible:  # GitHub's token of a job belongs to a bot and may not ask for it
        login = None
    async for comment in _list(there):
        # GitHub names the author `user`, GitLab `author`.
        author = comment.get("user") or comment.get("author") or {}
        is_own = (author.get("login") or author.get("username")) == login if login else author.get("type") == "Bot"
        if is_own and str(comment.get("body", "")).startswith(marker) and isinstance(comment.get("id"), int):
            return int(comment["id"])
    return None


async def _list(there: Conversation) -> AsyncIterator[dict[str, Any]]:
    for page in range(1, _MOST_PAGES + 1):
        found = await _call(there, "GET", f"{there.comments}?per_page={_PER_PAGE}&page={page}")
        if not isinstance(found, list):
            return
        for item in found:
            if isinstance(item, dict):
                yield item
        if len(found) < _PER_PAGE:
            return


async def _call(there: Conversation, method: str, url: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()

    async def send() -> Any:
        try:
            reply = await there.client.send(method, url, data, there.headers, _TIMEOUT_S)
        except HttpError as error:
            raise _NotPossible(f"the server does not answer ({error.kind})") from None
        # A repeated POST could write a second comment, unless the server refused the first one for its rate limit.
        if is_busy(reply.status) and (method != "POST" or reply.status == 429):
            raise BusyError(f"the server replied {reply.status}", read_retry_after(reply.headers))
        if reply.status >= 300:
            hint = ". Give the job the permission pull-requests: write" if reply.status in (401, 403) else ""
            raise _NotPossible(f"the server replied {reply.status}{hint}")
        if (found := reply.json()) is None and reply.body:
            raise _NotPossible("the server sent no JSON")
        return found

    try:
        return (await retry(send, PATIENCE))[0]
    except BusyError as error:
        raise _NotPossible(str(error)) from None


def _limited(text: str) -> str:
    if len(text) <= _MOST_CHARACTERS:
        return text
    return f"{text[:_MOST_CHARACTERS].rpartition(chr(10))[0]}\n\n(cut: the whole report is in the files of the job)\n"
