"""Requests in batches, with a batch API in memory."""

import asyncio
import itertools
import json
from dataclasses import replace

import pytest

from ragstone.errors import StopRunError, StorageError
from ragstone.http.retry import Patience
from ragstone.llm.base import LLMBusyError, LLMRefusedError, LLMStoppedError, Message, Reply, Request
from ragstone.llm.batch_calls import Batched
from ragstone.llm.batches import BatchRecords, BatchResult, BatchSettings, BatchState
from ragstone.llm.budget import Budget, Budgeted, Deadline, Price, Prices
from ragstone.llm.cache import Cache, Cached, decode_reply, encode_reply, request_key
from ragstone.llm.concurrency import call_notes
from ragstone.llm.wrappers import ordinary_calls
from ragstone.testing import FakeLLM

QUICK = BatchSettings(quiet_s=0.02, first_poll_s=0.005, longest_poll_s=0.01, least=3)


class FakeAPI:
    """Batches in memory. `ends_after` is the number of looks until a batch has ended."""

    kind, where, has_calls, guesses = "openai", "memory", True, True
    most_requests, most_bytes = 1000, 1_000_000

    def __init__(self, ends_after=1):
        self.ends_after = ends_after
        self.batches = {}
        self.marks = {}
        self.looks = 0
        self.trouble = {}
        self.failed = set()

    def line(self, key, request):
        return json.dumps([key, request.messages[-1].content]).encode()

    async def prepare(self, record, lines):
        return [json.loads(line) for line in lines]

    async def create(self, record, prepared):
        error = next(self.trouble.get("create", iter(())), None)
        if isinstance(error, LLMRefusedError) or str(error) == "not created":
            raise error
        name = f"batch_{len(self.batches)}"
        self.batches[name], self.marks[record.id] = prepared, name
        if error:
            raise error
        return name

    async def find(self, record, taken):
        return self.marks.get(record.id)

    async def look(self, record):
        self.looks += 1
        return BatchState("running", is_ended=self.looks >= self.ends_after)

    async def results(self, record, state):
        lines = [(key, text) for key, text in self.batches[record.batch] if text not in self.failed]
        return [BatchResult(key, 200, f"reply to {text}") for key, text in reversed(lines)]

    def read(self, result, request):
        return Reply(result.body, "openai/m", input_tokens=1000, output_tokens=100)

    def advise(self, record):
        return "Wait."

    @property
    def sizes(self):
        return [len(batch) for batch in self.batches.values()]


class World:
    """A model in batches, with what it uses."""

    def __init__(self, folder, **options):
        self.api = options.pop("api", FakeAPI())
        self.cache = Cache(folder)
        self.called = []
        self.notes = []
        self.budget = options.pop("budget", None)
        prices = Prices({"fake/model": Price(10.0, 10.0)}, batch={"fake": 0.5})
        inner = FakeLLM(self._reply)
        calls = Budgeted(inner, prices, self.budget)
        meter = Budgeted(inner, prices.for_batches(), self.budget)
        settings = options.pop("settings", QUICK)
        patience = Patience(first_wait_s=0.001, attempts=3)
        self.llm = Batched(calls, self.api, self.cache, "", settings, meter, self.budget, patience=patience, **options)

    def _reply(self, request):
        self.called.append(request.messages[-1].content)
        return Reply(f"call of {request.messages[-1].content}", "fake/model", input_tokens=1000, output_tokens=100)

    @property
    def records(self):
        return BatchRecords(self.cache.place).all()

    def ask(self, *texts, **more):
        async def ask():
            with call_notes(self.notes.append):
                found = await asyncio.gather(
                    *(self.llm.complete(request(t, **more)) for t in texts), return_exceptions=True
                )
            await self.llm.close()
            return [one.text if isinstance(one, Reply) else one for one in found]

        return asyncio.run(ask())


def request(text, **more):
    return Request((Message("user", str(text)),), max_tokens=100, **more)


def test_one_request_is_called_and_the_others_are_in_one_batch(tmp_path):
    world = World(tmp_path)
    assert world.ask(*range(20)) == ["call of 0", *(f"reply to {number}" for number in range(1, 20))]
    assert (world.called, world.api.sizes, world.records) == (["0"], [19], [])
    key = request_key("fake/model", "", request(7))
    assert decode_reply(world.cache.read(key)).text == "reply to 7"


def test_a_reply_of_a_batch_is_written_once(tmp_path):
    world = World(tmp_path)
    written = []
    write = world.cache.write
    world.cache.write = lambda key, value: (written.append(key), write(key, value))
    cached = Cached(world.llm, world.cache)

    async def ask():
        first = await asyncio.gather(*(cached.complete(request(number)) for number in range(10)))
        again = await asyncio.gather(*(cached.complete(request(number)) for number in range(10)))
        await cached.close()
        assert [reply.text for reply in first] == [reply.text for reply in again]
        assert all(reply.cached and not reply.stored for reply in again)

    asyncio.run(ask())
    assert sorted(written) == sorted(request_key("fake/model", "", request(number)) for number in range(10))


def test_limits_of_the_api(tmp_path):
    api = FakeAPI()
    api.most_requests = 8
    world = World(tmp_path, api=api)
    world.ask(*range(20))
    assert world.api.sizes == [8, 8, 3]
    api = FakeAPI()
    api.most_bytes = 200
    world = World(tmp_path / "other", api=api)
    world.ask(*range(20))
    assert sum(api.sizes) == 19
    assert all(sum(len(json.dumps(line)) + 1 for line in batch) <= 200 for batch in api.batches.values())


def test_few_requests_after_a_batch_are_calls(tmp_path):
    world = World(tmp_path)

    async def ask():
        await asyncio.gather(*(world.llm.complete(request(number)) for number in range(10)))
        replies = [
            await asyncio.gather(*(world.llm.complete(request(f"{n} of {count}")) for n in range(count)))
            for count in (2, 3)
        ]
        await world.llm.close()
        return [[reply.text[:4] for reply in group] for group in replies]

    assert asyncio.run(ask()) == [["call"] * 2, ["repl"] * 3]
    assert world.api.sizes == [9, 3]


def test_each_kind_of_request_is_called_once(tmp_path):
    world = World(tmp_path)

    async def ask():
        kinds = [{}, {"logprobs": True}, {"reply_format": "json_object"}]
        await asyncio.gather(*(world.llm.complete(request(f"{n} {kind}", **kind)) for n in range(5) for kind in kinds))
        await world.llm.close()

    asyncio.run(ask())
    assert len(world.called) == 3
    assert world.api.sizes == [12]


def test_failed_requests_are_called(tmp_path):
    world = World(tmp_path)
    world.api.failed = {"3", "5"}
    replies = world.ask(*range(10))
    assert [text for text in replies if text.startswith("call")] == ["call of 0", "call of 3", "call of 5"]
    assert (
        "batch batch_0 running: 7 replies; 2 requests failed and are sent as ordinary calls (no result)" in world.notes
    )


@pytest.mark.parametrize("error", [LLMBusyError("no connection"), KeyError("data"), StorageError("the disk is full")])
def test_other_failures_stop_the_run_and_keep_the_record(tmp_path, error):
    world = World(tmp_path)

    async def fail(record, state):
        raise error

    world.api.results = fail
    replies = world.ask(*range(10))
    assert all(isinstance(reply, StopRunError) and "same command again" in str(reply) for reply in replies[1:])
    assert len(world.records) == 1


def test_a_batch_that_is_refused(tmp_path):
    world = World(tmp_path)
    world.api.trouble["create"] = iter([LLMRefusedError("too many batches today")])
    assert {text[:4] for text in world.ask(*range(10))} == {"call"}
    assert world.records == []
    assert any("too many batches today" in note for note in world.notes)


@pytest.mark.parametrize("words", ["created, but the confirmation is lost", "not created"])
def test_a_lost_confirmation(tmp_path, words):
    world = World(tmp_path)
    world.api.trouble["create"] = iter([LLMBusyError(words)])
    world.ask(*range(10))
    assert world.api.sizes == [9]


def test_a_server_that_stays_busy_leaves_a_record(tmp_path):
    world = World(tmp_path)
    world.api.trouble["create"] = (LLMBusyError("not created") for _ in itertools.count())
    replies = world.ask(*range(10))
    assert sum(isinstance(reply, StopRunError) for reply in replies) == 9
    [record] = world.records
    assert record.batch is None
    world = World(tmp_path, api=FakeAPI())
    world.ask(*range(10))
    assert world.api.sizes == [9]
    assert world.records == []


def test_the_next_process_continues(tmp_path):
    first = World(tmp_path, api=FakeAPI(ends_after=10**9), deadline=Deadline(0.2))
    replies = first.ask(*range(10))
    assert all("Wait." in str(reply) for reply in replies[1:])
    [record] = first.records
    assert record.batch == "batch_0"
    first.api.ends_after = 0
    second = World(tmp_path, api=first.api)
    assert second.ask(*range(1, 10)) == [f"reply to {number}" for number in range(1, 10)]
    assert (first.api.sizes, second.called, second.records) == ([9], [], [])


@pytest.mark.parametrize("is_submitted", [True, False])
def test_a_record_without_an_id(tmp_path, is_submitted):
    """The process that wrote it was killed before it could store the id."""
    world = World(tmp_path)
    keys = [request_key("fake/model", "", request(number)) for number in range(10)]
    record = BatchRecords(world.cache.place).create("openai", "fake/model", "", "memory", keys)
    BatchRecords(world.cache.place).write(replace(record, owner={**record.owner, "pid": 2**30}))
    if is_submitted:
        world.api.batches["batch_x"] = [(key, str(number)) for number, key in enumerate(keys)]
        world.api.marks[record.id] = "batch_x"
    world.ask(*range(10))
    assert world.api.sizes == ([10] if is_submitted else [9])
    assert world.records == []


def test_a_record_of_a_process_that_is_about_to_submit(tmp_path):
    """The other process submits and collects its batch; this one finds the replies in the cache."""
    world = World(tmp_path)
    keys = [request_key("fake/model", "", request(number)) for number in range(10)]
    records = BatchRecords(world.cache.place)
    record = records.create("openai", "fake/model", "", "memory", keys)
    records.write(replace(record, owner={**record.owner, "pid": 1, "started": None}))

    async def ask():
        asked = asyncio.gather(*(world.llm.complete(request(number)) for number in range(10)))
        await asyncio.sleep(0.1)
        assert world.api.sizes == []
        for key in keys:
            world.cache.write(key, encode_reply(Reply("theirs", "fake/model")))
        records.remove(record)
        replies = await asked
        await world.llm.close()
        return {reply.text for reply in replies}

    assert asyncio.run(ask()) == {"theirs"}
    assert (world.api.sizes, world.called) == ([], [])


def test_the_budget_is_shared_by_batches_and_calls(tmp_path):
    """A call costs 0.011 usd and half of it in a batch. The rest of the requests waits until a batch has released its share."""
    budget = Budget(0.1)
    world = World(tmp_path, budget=budget, settings=replace(QUICK, least=0))
    replies = world.ask(*("x" * 4000 + str(number) for number in range(40)))
    stopped = [reply for reply in replies if isinstance(reply, LLMStoppedError)]
    assert stopped
    assert len(world.api.sizes) > 1
    assert budget.spent_usd == pytest.approx(0.011 * len(world.called) + 0.0055 * sum(world.api.sizes))
    assert 0.05 < budget.spent_usd <= 0.1
    assert budget._reserved == pytest.approx(0)


def test_costs(tmp_path):
    world = World(tmp_path)

    async def ask():
        replies = await asyncio.gather(*(world.llm.complete(request(number)) for number in range(5)))
        await world.llm.close()
        return [reply.cost_usd for reply in replies]

    assert asyncio.run(ask()) == pytest.approx([0.011] + [0.0055] * 4)


def test_ordinary_calls(tmp_path):
    world = World(tmp_path)

    async def ask():
        with ordinary_calls():
            await asyncio.gather(*(world.llm.complete(request(number)) for number in range(5)))
        await world.llm.close()

    asyncio.run(ask())
    assert (len(world.called), world.api.sizes) == (5, [])


def test_closing_while_a_batch_is_waited_for(tmp_path):
    world = World(tmp_path, api=FakeAPI(ends_after=10**9))

    async def ask():
        tasks = [asyncio.create_task(world.llm.complete(request(number))) for number in range(5)]
        while not world.api.looks:
            await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await world.llm.close()
        return len(asyncio.all_tasks())

    assert asyncio.run(ask()) == 1
    assert len(world.records) == 1
