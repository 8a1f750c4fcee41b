"""Several servers of one model: shares by speed, the loss of some of them, and the same results as with one."""

import asyncio
import threading
from contextlib import ExitStack
from itertools import pairwise

import pytest
from benchmarks.judge_servers import FLEETS, InTurn, simulate

from ragstone.engine.evaluate import evaluate
from ragstone.errors import UsageError
from ragstone.llm.base import LLMAccessError, LLMBusyError, Reply
from ragstone.llm.cache import Cache
from ragstone.llm.endpoint_pool import EndpointPool
from ragstone.llm.endpoints import list_addresses
from ragstone.llm.gateway import Gateway, GatewaySettings
from tests.http.loopback import HANG, Loopback, completion
from tests.llm.asking import MODEL, QUICK, ask, request
from tests.oracle.server import OracleServer
from tests.oracle.world import make_samples

# Servers that die in the middle of a test may leave a connection to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def servers():
    """Three servers that repeat the last word of a question."""
    with ExitStack() as stack:
        found = [stack.enter_context(Loopback().running()) for _ in range(3)]
        for server in found:
            server.handler = echo
        yield found


def echo(asked):
    return completion(asked.json["messages"][0]["content"])


def ask_all(servers, count=120, **settings):
    """The texts of the replies to some questions."""
    questions = [request(str(number)) for number in range(count)]
    urls = [server.url for server in servers]
    return [
        reply.text if isinstance(reply, Reply) else reply
        for reply in ask(None, *questions, base_url=urls, **{"concurrency": 12, **settings})
    ]


def every(count=120):
    return [str(number) for number in range(count)]


def test_faster_servers_get_more_calls(servers):
    for server, delay_s in zip(servers, (0.01, 0.06, 0.36), strict=True):
        server.delay_s = delay_s
    assert ask_all(servers, 240) == every(240)
    fast, middle, slow = (len(server.asked) for server in servers)
    assert fast > middle > slow >= 1
    assert fast > 120
    assert fast + middle + slow == 240


def test_equal_servers_get_equal_shares(servers):
    for server in servers:
        server.delay_s = 0.02
    assert ask_all(servers, 240) == every(240)
    assert all(40 < len(server.asked) < 130 for server in servers)


def test_calls_of_a_server_that_dies_move_to_the_others(servers):
    dying = servers[0]
    killers = []

    def die(asked):
        if len(dying.asked) == 10:
            killers.append(threading.Thread(target=dying.stop))
            killers[0].start()
        return HANG if len(dying.asked) >= 8 else echo(asked)

    dying.handler = die
    for server in servers[1:]:
        server.delay_s = 0.02
    assert ask_all(servers) == every()
    killers[0].join()
    assert sum(len(server.asked) for server in servers[1:]) >= 113


@pytest.mark.parametrize("answer", [(500, {}), (429, {}, {"Retry-After": "30"}), b"not JSON"])
def test_a_server_that_only_fails_is_soon_left_alone(servers, answer):
    broken = servers[1]
    broken.handler = lambda asked: answer
    for server in servers:
        server.delay_s = 0.01
    assert ask_all(servers) == every()
    # Those of the first moment, and a few trials.
    assert 1 <= len(broken.asked) <= 30


def test_a_server_that_hangs_costs_one_time_limit(servers):
    servers[2].handler = lambda asked: HANG
    for server in servers[:2]:
        server.delay_s = 0.01
    assert ask_all(servers, timeout_s=1.5) == every()
    assert 1 <= len(servers[2].asked) <= 12


def test_the_loss_is_noted_and_the_addresses_are_nowhere_else(servers, tmp_path):
    servers[1].handler = lambda asked: (500, {})

    async def work():
        settings = GatewaySettings(
            base_url=[server.url for server in servers], patience=QUICK, cache=Cache(tmp_path / "replies")
        )
        gateway = Gateway(settings)
        llm = gateway.open_llm(MODEL)
        await asyncio.gather(*(llm.complete(request(str(number))) for number in range(20)))
        problem = gateway.problem
        await gateway.close()
        return problem

    problem = asyncio.run(work())
    assert f"http://127.0.0.1:{servers[1].port}/v1 failed" in problem
    assert str(servers[0].port) not in problem
    stored = [path.read_text() for path in (tmp_path / "replies").rglob("*.json")]
    assert len(stored) == 21  # with the speeds
    assert not any("127.0.0.1" in text for text in stored)


def test_replies_are_cached_for_any_of_the_addresses(servers, tmp_path):
    cache = Cache(tmp_path)
    assert ask_all(servers, 30, cache=cache) == every(30)
    before = sum(len(server.asked) for server in servers)
    assert ask_all(servers[2:], 30, cache=cache) == every(30)
    assert ask_all(servers[:2], 30, cache=cache) == every(30)
    assert sum(len(server.asked) for server in servers) == before == 30
    # One address is as before: the same name there may be another model.
    assert ask(servers[0], request("1"), cache=cache).cached is False


def test_all_dead_is_the_error_of_one(servers):
    urls = [server.url for server in servers]
    for server in servers:
        server.stop()
    alone = ask(urls[0])
    assert isinstance(alone, LLMAccessError)
    together = ask(None, base_url=urls)
    assert isinstance(together, LLMAccessError)
    assert "no server answers at http://127.0.0.1" in str(together)


def test_all_that_fail_later_are_busy(servers):
    def later(asked):
        return (500, {"error": {"message": "worn out"}}) if "later" in str(asked.json) else echo(asked)

    for server in servers:
        server.handler = later
    found = ask(None, request("now"), request("later"), base_url=[server.url for server in servers])
    assert found[0].text == "now"
    assert isinstance(found[1], LLMBusyError)
    assert "worn out; given up after 6 attempts" in str(found[1])


def test_a_wrong_key_at_one_of_them_stops_the_run(servers):
    servers[1].handler = lambda asked: (401, {"error": {"message": "Incorrect API key"}})
    found = ask_all(servers, 20)
    assert any(isinstance(one, LLMAccessError) and str(servers[1].port) in str(one) for one in found)


class Scripted:
    """A model whose calls take as long as told on the clock of a test, or fail."""

    signature = name = "vllm/scripted"

    def __init__(self, clock, label, seconds=1.0):
        self.clock, self.label, self.seconds, self.error, self.calls = clock, label, seconds, None, 0

    async def complete(self, request):
        self.calls += 1
        self.clock[0] += self.seconds
        if self.error:
            raise self.error
        return Reply(self.label, self.name)

    async def close(self):
        pass


def test_a_failed_server_is_tried_again_after_longer_and_longer_rests():
    clock = [0.0]
    good, bad = Scripted(clock, "good", 0.5), Scripted(clock, "bad", 0.01)
    pool = EndpointPool([("bad", bad), ("good", good)], lambda: clock[0])
    bad.error = LLMBusyError("down")

    async def call():
        return (await pool.complete(request())).text

    trials = []
    for _ in range(200):
        before = bad.calls
        assert asyncio.run(call()) == "good"
        trials += [clock[0]] if bad.calls > before else []
    gaps = [later - earlier for earlier, later in pairwise(trials)]
    assert len(trials) == 7
    assert all(1.6 < later / earlier < 2.6 for earlier, later in pairwise(gaps[:-1]))
    assert gaps[-1] <= 62
    bad.error = None
    clock[0] += 61
    assert [asyncio.run(call()) for _ in range(3)] == ["bad"] * 3


def test_simulated_servers_are_used_by_their_speed_and_none_is_needed():
    for name, least in (("8 servers: 4 full, 2 half, 2 quarter speed", 0.85), ("the same, a full one is lost", 0.8)):
        make = next(make for title, make in FLEETS.items() if title.startswith(name))
        found = simulate(make(), 6400)
        assert found.used > least
        assert found.failed == 0
        assert found == simulate(make(), 6400)
        assert found.used > 1.5 * simulate(make(), 6400, InTurn).used


def test_addresses_of_lists_and_files(tmp_path):
    file = tmp_path / "servers.txt"
    file.write_text("# the two large ones\nhttp://a:8000/v1\n\nb:8000  # slow\nhttp://a:8000/v1\n")
    assert list_addresses(str(file)) == ["http://a:8000/v1", "b:8000"]
    assert list_addresses([str(file), "http://c/v1"]) == ["http://a:8000/v1", "b:8000", "http://c/v1"]
    assert list_addresses("http://a:8000/v1") == list_addresses(None) == list_addresses("box:11434") == []
    file.write_text("# nothing\n")
    with pytest.raises(UsageError, match="has no addresses"):
        list_addresses(str(file))


def test_batches_and_other_providers_take_one_address():
    two = ["http://a/v1", "http://b/v1"]
    for model, more in (("openai/m", {"batch": True}), ("mistral/m", {})):
        with pytest.raises(UsageError, match="takes one address"):
            evaluate(
                [{"question": "q", "answer": "a", "references": ["a"]}],
                ["answer_match"],
                judge=model,
                base_url=two,
                **more,
            )


CLAIMS = ["ragchecker.precision", "ragas.faithfulness", "answer_similarity"]


def test_a_run_is_equal_to_that_of_one_server(tmp_path):
    rows = [sample.row() for sample in make_samples(12, seed=5)]
    options = {"judge": "openai/oracle", "embedder": "openai/oracle", "cache": False}
    with (
        OracleServer() as one,
        OracleServer(latency_s=0.01) as two,
        OracleServer(trouble=lambda number: "500") as three,
    ):
        alone = evaluate(rows, CLAIMS, tmp_path / "alone", base_url=one.base_url, **options)
        calls = one.requests
        urls = [one.base_url, two.base_url, three.base_url]
        notes = []
        found = evaluate(rows, CLAIMS, tmp_path / "several", base_url=urls, note=notes.append, **options)
        assert two.requests > 0
        assert one.requests < 2 * calls
    assert found.scores.equals(alone.scores)
    for name in alone.info["evidence"]:
        assert found.evidence(name).equals(alone.evidence(name)), name
    assert any(f"{three.port}/v1 failed" in note for note in notes)
    stored = b"".join(path.read_bytes() for path in (tmp_path / "several").rglob("*") if path.is_file())
    assert not any(str(server.port).encode() in stored for server in (one, two, three))


def test_the_option_may_be_repeated(cli, tmp_path):
    data = tmp_path / "rows.jsonl"
    data.write_text('{"question": "Who?", "answer": "Ada.", "references": ["Ada."]}\n')
    words = [
        "run",
        str(data),
        "-m",
        "answer_match",
        "--judge",
        "openai/oracle",
        "-o",
        str(tmp_path),
        "--no-cache",
        "-q",
    ]
    with OracleServer(trouble=lambda number: "500") as broken, OracleServer() as server:
        cli(*words, "--base-url", broken.base_url, "--base-url", server.base_url)
        assert server.calls > 0
        (tmp_path / "servers.txt").write_text(f"{server.base_url}\n{broken.base_url}\n")
        before = server.calls
        cli(*words, "--base-url", str(tmp_path / "servers.txt"))
        assert server.calls > before
