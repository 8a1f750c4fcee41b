"""The clients of the platforms themselves, in an environment of their own, against the fakes.

If the fakes take what the real clients send, and the clients understand what the fakes answer, the fakes are right. Rows that
the clients return are exports as users make them: our readers must read them.
"""

import pytest

from ragstone.formats import open_reader, read_dataset
from tests.platforms.fakes import variables
from tests.platforms.records import FARE, FERRY, PROJECT, TRACES, run_id
from tests.separate_environment import run_separately

pytestmark = pytest.mark.slow

LANGFUSE = """
import json, os
from datetime import datetime
from langfuse import Langfuse

client = Langfuse(host=os.environ["LANGFUSE_HOST"], tracing_enabled=True)
since = datetime.fromisoformat("2026-11-01T00:00:00+00:00")
rows, cursor = [], None
while True:
    page = client.api.observations.get_many(
        fields="core,basic,time,io,metadata,model,usage,metrics,trace_context", limit=100, cursor=cursor,
        from_start_time=since,
    )
    rows += page.data
    cursor = page.meta.cursor
    if not cursor:
        break
list_scores = getattr(client.api.scores, "get_many_v3", client.api.scores.get_many)
scores, cursor = [], None
while True:
    page = list_scores(fields="details,subject", limit=100, cursor=cursor)
    scores += page.data
    cursor = page.meta.cursor
    if not cursor:
        break
with open("log.jsonl", "w") as file:
    for row in [*rows, *scores]:
        print(row.json(by_alias=True), file=file)
client.create_score(name="quality", value=0.5, trace_id="a" * 32, comment="by the client", score_id="fixed")
client.flush()
"""
PHOENIX = """
import json, os
from datetime import datetime
from phoenix.client import Client

client = Client(base_url=os.environ["PHOENIX_COLLECTOR_ENDPOINT"].removesuffix("/v1/traces"))
since = datetime.fromisoformat("2026-11-01T00:00:00+00:00")
spans = client.spans.get_spans(project_identifier="default", start_time=since, limit=100)
with open("log.jsonl", "w") as file:
    for span in spans:
        print(json.dumps(span), file=file)
notes = client.spans.get_span_annotations(span_ids=["0000000000000001"], project_identifier="default")
assert [note["name"] for note in notes] == ["user_feedback"], notes
note = {"name": "quality", "annotator_kind": "LLM", "span_id": "0000000000000001", "result": {"score": 0.5}}
assert client.spans.log_span_annotations(span_annotations=[note], sync=True)
"""
LANGSMITH = """
import json, os
from datetime import datetime
from langsmith import Client

client = Client(api_url=os.environ["LANGSMITH_ENDPOINT"], api_key=os.environ["LANGSMITH_API_KEY"])
since = datetime.fromisoformat("2026-11-01T00:00:00+00:00")
with open("log.jsonl", "w") as file:
    for run in client.list_runs(project_name="default", start_time=since):
        print(run.model_dump_json(), file=file)
client.create_feedback(RUN, "quality", score=0.5, comment="by the client", session_id=PROJECT)
"""

LANGSMITH_2 = """
import asyncio, os
from langsmith import Client

client = Client(api_url=os.environ["LANGSMITH_ENDPOINT"], api_key=os.environ["LANGSMITH_API_KEY"])


async def read():
    names = "ID NAME RUN_TYPE START_TIME END_TIME INPUTS OUTPUTS TRACE_ID PARENT_RUN_IDS PROJECT_ID THREAD_ID FEEDBACK_STATS"
    selects = [*names.split(), "PROMPT_TOKENS", "COMPLETION_TOKENS", "METADATA"]
    with open("log.jsonl", "w") as file:
        found = client.runs.query(project_ids=[PROJECT], min_start_time="2026-11-01T00:00:00Z", selects=selects)
        async for run in found:
            print(run.model_dump_json(), file=file)


asyncio.run(read())
"""


def check(tmp_path, platform, fake, code):
    done = run_separately(code, tmp_path, **variables(platform, fake))
    assert done.returncode == 0, done.stderr
    log = str(tmp_path / "log.jsonl")
    assert open_reader(log).format.name == platform
    samples = {sample.question: sample for sample in read_dataset(log)}
    assert set(samples) == {FERRY, FARE}
    assert len(samples[FERRY].contexts) == 2
    assert samples[FERRY].metadata["input_tokens"] == 100
    return samples


def test_langfuse(tmp_path, start):
    fake = start("langfuse")
    samples = check(tmp_path, "langfuse", fake, LANGFUSE)
    assert samples[FERRY].metadata["signals"] == {"like": 1}
    [score] = fake.written.values()
    assert (score["name"], score["value"], score["traceId"]) == ("quality", 0.5, TRACES["ferry"])


def test_phoenix(tmp_path, start):
    fake = start("phoenix")
    check(tmp_path, "phoenix", fake, PHOENIX)
    [note] = fake.written.values()
    assert note["result"] == {"score": 0.5}


def test_langsmith(tmp_path, start):
    fake = start("langsmith", version=1)
    code = LANGSMITH.replace("RUN,", f"{run_id('ferry')!r},").replace("=PROJECT", f"={PROJECT!r}")
    samples = check(tmp_path, "langsmith", fake, code)
    assert samples[FERRY].metadata["signals"] == {"like": 1}
    [feedback] = fake.written.values()
    assert (feedback["key"], feedback["score"], feedback["comment"]) == ("quality", 0.5, "by the client")


def test_langsmith_with_the_second_version_of_the_query(tmp_path, start):
    fake = start("langsmith")
    code = LANGSMITH_2.replace("[PROJECT]", f"[{PROJECT!r}]")
    samples = check(tmp_path, "langsmith", fake, code)
    assert samples[FERRY].metadata["signals"] == {"like": 1}
    assert samples[FARE].metadata["session_id"] == "s1"
