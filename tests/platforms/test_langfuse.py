import pytest

from ragstone.platforms import langfuse
from tests.platforms.stub import StubApi, run, score


def test_an_older_server_takes_one_score_per_request_and_is_asked_once():
    marks = [score(metric=name) for name in "ab"]
    # The list is refused, then each score alone as a list and as an object.
    api = StubApi((400, None), (400, None), (200, {}), (200, {}))
    assert [result.error for result in run(langfuse.write(api, marks))] == [None, None]
    assert [isinstance(body, list) for _, _, body in api.asked] == [True, True, False, False]
    again = StubApi((200, {}), (200, {}))
    again.traits = api.traits
    run(langfuse.write(again, marks))
    assert [body["name"] for _, _, body in again.asked] == ["a", "b"]


def test_a_rejected_score_has_the_reason_of_the_server():
    rejected = (207, {"rejected": 1, "errors": [{"message": "unknown trace"}]})
    assert [result.error for result in run(langfuse.write(StubApi(rejected), [score()]))] == ["unknown trace"]


def test_a_second_push_has_the_same_id_and_time():
    time = "2026-11-01T08:00:00Z"
    bodies = []
    for value in (0.1, 0.9):
        api = StubApi((200, {}))
        run(langfuse.write(api, [score(value=value, time=time)]))
        bodies.append(api.asked[0][2][0])
    first, second = bodies
    assert (first["id"], first["timestamp"]) == (second["id"], time)
    assert "timestamp" not in langfuse._score(score(time="yesterday"))


@pytest.mark.parametrize(
    ("mark", "accepted"),
    [(score(), True), (score("q1"), False), (score("q1", span_names=["chain"]), True)],
)
def test_ids_of_traces_are_sent_and_of_samples_that_were_read_from_traces(mark, accepted):
    assert langfuse.accepts(mark) is accepted
