"""Comments on pull requests: one per key, updated by its author only, and never a reason to fail."""

import json

import pytest

from ragstone.http.retry import Patience
from ragstone.notify.pull_request import post_comment
from tests.notify.code_host import TOKEN, github, gitlab, running_host


@pytest.fixture
def host(monkeypatch):
    monkeypatch.setattr("ragstone.notify.pull_request.PATIENCE", Patience(attempts=2, first_wait_s=0.0))
    with running_host() as found:
        yield found


@pytest.fixture(params=[github, gitlab], ids=["github", "gitlab"])
def job(request, host):
    """The variables of a job; the account of its token is known to GitLab only."""
    host.login = "project-bot" if request.param is gitlab else None
    return request.param(host)


def test_a_comment_is_written_then_updated(host, job):
    assert post_comment("### passes\n", "gate", job) == "commented on the pull request"
    assert post_comment("### fails\n", "gate", job) == "updated the comment on the pull request"
    assert [comment["body"] for comment in host.comments] == ["<!-- ragstone gate -->\n### fails\n"]


def test_every_key_has_its_comment(host, job):
    for key in ("docs", "chat", "docs", "a --> <b>"):
        post_comment(key, key, job)
    assert [comment["body"].split("\n")[0] for comment in host.comments] == [
        "<!-- ragstone docs -->",
        "<!-- ragstone chat -->",
        "<!-- ragstone a --- -b- -->",
    ]


def test_comments_of_others_are_left_alone(host, job):
    host.add("<!-- ragstone gate -->\n### passes", "mallory", "User")
    post_comment("### fails\n", "gate", job)
    assert [comment["body"].split("\n")[1] for comment in host.comments] == ["### passes", "### fails"]


def test_a_token_of_a_person(host):
    host.login = "ann"
    mine = host.add("<!-- ragstone gate -->\nold", "ann", "User")
    host.add("<!-- ragstone gate -->\nanother bot", "helper[bot]", "Bot")
    post_comment("new", "gate", github(host))
    assert mine["body"].endswith("new")
    assert len(host.comments) == 2


def test_the_comment_is_found_on_a_later_page(host, job):
    for number in range(250):
        host.add(f"talk {number}", "ann", "User")
    post_comment("one", "gate", job)
    post_comment("two", "gate", job)
    assert len(host.comments) == 251


def test_the_number_from_the_event(host, tmp_path):
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": {"number": 12}}))
    job = github(host, GITHUB_REF="refs/heads/main", GITHUB_EVENT_PATH=str(tmp_path / "event.json"))
    assert post_comment("x", "gate", job) == "commented on the pull request"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"GITHUB_REF": "refs/heads/main"}, "does not belong to a pull request"),
        ({"GITHUB_REF": "refs/heads/main", "GITHUB_EVENT_PATH": __file__}, "does not belong to a pull request"),
        ({"GITHUB_TOKEN": ""}, "GITHUB_TOKEN is not set"),
        ({"GITHUB_TOKEN": "wrong"}, "the server replied 401. Give the job the permission pull-requests: write"),
        ({"GITHUB_REPOSITORY": "../../user"}, "GITHUB_REPOSITORY is missing"),
        ({"GITHUB_API_URL": "file:///etc"}, "GITHUB_API_URL or"),
        ({"GITHUB_API_URL": "http://127.0.0.1:9"}, "the server does not answer"),
    ],
)
def test_reasons_why_there_is_no_comment(host, more, words):
    found = post_comment("x", "gate", github(host, **more))
    assert found.startswith("no comment was written: ")
    assert words in found
    assert host.comments == []


@pytest.mark.parametrize("more", [{"CI_MERGE_REQUEST_IID": ""}, {"RAGSTONE_GITLAB_TOKEN": ""}])
def test_reasons_on_gitlab(host, more):
    assert post_comment("x", "gate", gitlab(host, **more)).startswith("no comment was written: ")


@pytest.mark.parametrize("status", [302, 403, 404, 422, 500])
def test_trouble_of_the_server_leaks_nothing(host, job, status):
    host.status = status
    found = post_comment("x", "gate", job)
    assert f"the server replied {status}" in found
    assert TOKEN not in found
    # A redirect is not followed: it would send the token elsewhere.
    assert not any("elsewhere" in path for _, path in host.asked)


def test_a_long_report_is_cut_at_a_line(host, job):
    post_comment("| a | b |\n" * 10_000, "gate", job)
    body = host.comments[0]["body"]
    assert len(body) < 65_536
    assert body.endswith("| a | b |\n\n(cut: the whole report is in the files of the job)\n")


def test_a_busy_server_is_asked_again(host, job):
    replies = iter([503, 429, None])
    answer = host.answer
    host.answer = lambda *given: (status, {}) if (status := next(replies, None)) else answer(*given)
    assert post_comment("x", "gate", job) == "commented on the pull request"
    assert len(host.comments) == 1


def test_a_comment_is_not_written_twice(host, job):
    answer = host.answer
    host.answer = lambda method, *given: (
        (answer(method, *given) and (502, {})) if method == "POST" else answer(method, *given)
    )
    assert "the server replied 502" in post_comment("x", "gate", job)
    assert len(host.comments) == 1
