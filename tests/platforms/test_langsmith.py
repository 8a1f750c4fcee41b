import pytest

from ragstone.errors import UsageError
from ragstone.platforms import langsmith
from tests.platforms.stub import StubApi, run, score

RUN = "11111111-1111-4111-8111-111111111111"


def test_feedback_that_exists_is_changed():
    mark = score(RUN, value=0.123456, langsmith_project="p")
    api = StubApi((409, None), (200, {}))
    assert [result.error for result in run(langsmith.write(api, [mark]))] == [None]
    (_, _, created), (method, path, changed) = api.asked
    assert created["session_id"] == "p"
    assert "start_time" not in created
    assert (method, path) == ("PATCH", f"/feedback/{mark.key}")
    assert changed == {"score": 0.1235, "comment": "why"}


@pytest.mark.parametrize(("status", "error"), [(404, "the run is not in LangSmith"), (422, "status 422")])
def test_a_refused_score_has_its_reason(status, error):
    assert [result.error for result in run(langsmith.write(StubApi((status, None)), [score(RUN)]))] == [error]


def test_a_project_is_found_by_its_name_or_is_an_id():
    assert run(langsmith.find_project(StubApi((200, [{"id": RUN}])), "ferries")) == RUN
    assert run(langsmith.find_project(StubApi(), RUN)) == RUN
    with pytest.raises(UsageError, match="has no project 'ferries'"):
        run(langsmith.find_project(StubApi((200, [])), None))


@pytest.mark.parametrize(
    ("trace", "accepted"), [(RUN, True), (RUN.upper(), True), (RUN.replace("-", ""), False), ("q", False)]
)
def test_only_ids_of_runs_are_sent(trace, accepted):
    assert langsmith.accepts(score(trace)) is accepted
