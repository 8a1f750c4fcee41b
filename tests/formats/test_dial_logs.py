import json
import threading
from datetime import date
from pathlib import Path
from urllib.parse import parse_qs

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragstone.data.types import Chunk, Turn
from ragstone.errors import InputError, StorageError, UsageError
from ragstone.formats import open_reader, read_dataset
from ragstone.formats.dial_logs import DialLogsFormat
from ragstone.formats.log_parts import Selection, find_parts
from ragstone.formats.reader import Reader
from ragstone.formats.sources import Source
from ragstone.storage.places import open_place
from tests.formats.fixtures import dial_row, fixture_dial_logs, rating_row, retrieval_attachment, write_part


def read(folder, **selection):
    ratings = []
    reader = Reader([Source(str(folder))], DialLogsFormat(Selection(**selection), ratings.append))
    samples = [row for batch in reader.batches() for row in batch.to_pylist()]
    return samples, {reason: found.times for reason, found in reader.report.left_out.items()}, ratings


def named(parts):
    return [(part.deployment, str(part.day), Path(part.place.path).name) for part in parts]


# Both layouts


def test_both_layouts_become_samples(tmp_path):
    [folder] = fixture_dial_logs(tmp_path)
    new, old = read_dataset(folder)
    assert old.question == "When does the ferry leave?"
    assert old.answer == "At eight."
    assert old.contexts == [
        Chunk("It leaves at eight.", source="guide.md#0"),
        Chunk("Adults pay ten.", source="guide.md#1"),
    ]
    assert old.documents == ["timetable.md"]
    assert old.metadata == {"deployment": "ferry-guide", "day": "2024-05-01"}
    assert new.id == "r-2"
    assert new.documents == ["guide.md"]
    assert new.metadata == {
        "deployment": "fares",
        "day": "2024-05-02",
        "time": "2024-05-02T10:00:00+00:00",
        "chat_id": "chat-1",
        "user": "user-1",
        "trace_id": "trace-r-2",
        "response_id": "r-2",
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("", {"a", "b"}),
        ("a", {"a"}),
        ("a/parsed_logs", {"a"}),
        ("a/parsed_logs/2024", {"a"}),
        ("a/parsed_logs/2024/05", {"a"}),
        ("a/parsed_logs/2024/05/01", {"a"}),
        ("a/parsed_logs/2024/05/01/x.parquet", {"a"}),
        ("b", {"b"}),
        ("b/2024-05-02", {"b"}),
        ("b/2024-05-02/part-0.parquet", {"b"}),
    ],
)
def test_a_folder_may_be_named_at_any_height(tmp_path, given, expected):
    write_part(tmp_path / "logs/a/parsed_logs/2024/05/01/x.parquet", [dial_row("r1", "q", "a")])
    write_part(tmp_path / "logs/b/2024-05-02/part-0.parquet", [dial_row("r2", "q", "a", time="2024-05-02T01:00:00")])
    place = open_place(str(tmp_path / "logs" / given))
    assert {part.deployment for part in find_parts(place, Selection())} == expected
    assert {str(part.day) for part in find_parts(place, Selection())} <= {"2024-05-01", "2024-05-02"}
    for name in expected:
        assert {part.deployment for part in find_parts(place, Selection((name,)))} == {name}


def test_names_of_deployments_may_be_encoded_in_folders(tmp_path):
    write_part(tmp_path / "parsed_logs/team%2Fapp/2024-05-01/part-0.parquet", [dial_row("r1", "q", "a")])
    for root in (tmp_path, tmp_path / "parsed_logs"):
        parts = find_parts(open_place(str(root)), Selection(("team/app",)))
        assert named(parts) == [("team/app", "2024-05-01", "part-0.parquet")]


def test_days_bound_what_is_read(tmp_path):
    for day in ("2023/12/31", "2024/01/01", "2024/01/15", "2024/02/01", "2025/01/10"):
        write_part(tmp_path / f"app/parsed_logs/{day}/{day.replace('/', '')}.parquet", [dial_row("r", "q", "a")])

    def between(first, last):
        return [name for _, _, name in named(find_parts(open_place(str(tmp_path)), Selection((), first, last)))]

    assert between(date(2024, 1, 1), date(2024, 1, 31)) == ["20240101.parquet", "20240115.parquet"]
    assert between(None, date(2024, 1, 1)) == ["20231231.parquet", "20240101.parquet"]
    assert between(date(2024, 1, 16), None) == ["20240201.parquet", "20250110.parquet"]
    assert between(date(2026, 1, 1), None) == []
    with pytest.raises(UsageError, match="swap them"):
        between(date(2024, 2, 1), date(2024, 1, 1))


def test_other_files_beside_the_parts_are_passed_over(tmp_path):
    write_part(tmp_path / "app/2024-05-01/part-0.parquet", [dial_row("r1", "q", "a")])
    for name in ("_SUCCESS", ".part-0.parquet.crc", "part-0.parquet.metadata.json", "_temporary/part-1.parquet"):
        path = tmp_path / "app/2024-05-01" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    (tmp_path / "guide.pdf").write_text("x")
    assert len(read(tmp_path)[0]) == 1


def test_a_folder_of_documents_is_no_log(tmp_path):
    (tmp_path / "guide.pdf").write_text("x")
    with pytest.raises(UsageError, match="cannot detect the format"):
        open_reader(str(tmp_path))


# What is opened, on a real server


@pytest.fixture
def requests_of(s3_server, bucket, monkeypatch):
    """A second server over the same buckets that writes down what it is asked for."""
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    asked = []
    inner = DomainDispatcherApplication(create_backend_app)

    def app(environ, start_response):
        query = parse_qs(environ.get("QUERY_STRING", ""))
        asked.append((environ["REQUEST_METHOD"], environ["PATH_INFO"].strip("/"), query.get("prefix", [None])[0]))
        return inner(environ, start_response)

    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    yield asked
    server.shutdown()
    thread.join()
    server.server_close()


def test_only_what_is_asked_for_is_listed_and_opened(bucket, requests_of, tmp_path):
    for app in ("mine", "other"):
        for day in ("2024/04/30", "2024/05/01", "2024/05/02", "2024/06/01"):
            path = write_part(tmp_path / "p.parquet", [dial_row(f"{app}-{day}", f"{app} {day}", "a", ["c"])])
            bucket.write(f"logs/{app}/parsed_logs/{day}/p.parquet", Path(path).read_bytes())
    samples, left_out, _ = read(
        f"{bucket.url}/logs", deployments=("mine",), first=date(2024, 5, 1), last=date(2024, 5, 1)
    )
    assert [sample["question"] for sample in samples] == ["mine 2024/05/01"]
    assert left_out == {}
    listed = {prefix for method, _, prefix in requests_of if method == "GET" and prefix}
    opened = {path for method, path, prefix in requests_of if method == "GET" and not prefix}
    home = "logs/mine/parsed_logs"
    assert not [prefix for prefix in listed if "other" in prefix]
    # The folder above the deployments is never listed, and within it only the one month and day.
    assert "logs/" not in listed
    assert {prefix for prefix in listed if prefix.startswith(f"{home}/2024/")} <= {
        f"{home}/2024/",
        f"{home}/2024/05/",
        f"{home}/2024/05/01/",
    }
    assert {path for path in opened if path.endswith(".parquet")} == {f"{bucket.name}/{home}/2024/05/01/p.parquet"}
    assert not [path for _, path, _ in requests_of if "other" in path]


def test_the_newer_layout_on_a_server(bucket, requests_of, tmp_path):
    for day in ("2024-05-01", "2024-05-02"):
        for number in (0, 1):
            row = dial_row(f"{day}-{number}", f"{day} {number}", "a", time=f"{day}T00:10:00")
            path = write_part(tmp_path / "p.parquet", [row])
            bucket.write(f"parsed_logs/app/{day}/part-{number}.parquet", Path(path).read_bytes())
    samples, _, _ = read(f"{bucket.url}/parsed_logs", deployments=("app",), first=date(2024, 5, 2))
    assert [sample["question"] for sample in samples] == ["2024-05-02 0", "2024-05-02 1"]
    opened = {path for method, path, _ in requests_of if method == "GET" and path.endswith(".parquet")}
    assert opened == {f"{bucket.name}/parsed_logs/app/2024-05-02/part-{number}.parquet" for number in (0, 1)}


def test_a_deployment_that_is_not_there(bucket):
    bucket.write("logs/app/2024-05-01/part-0.parquet", b"")
    with pytest.raises(UsageError, match=f"there is no folder {bucket.url}/logs/apq. Check --deployment"):
        read(f"{bucket.url}/logs", deployments=("apq",))


# What cannot be used


def test_rows_that_cannot_be_used_are_counted_and_the_rest_goes_on(tmp_path):
    good = dial_row("r1", "When?", "At eight.", ["It leaves at eight."])
    failed = dial_row("r2", "When?", "no")
    failed["response"] = {"status": "500", "body": ""}
    embedding = dial_row("r3", "When?", "no")
    embedding["request"] = {**embedding["request"], "uri": "/openai/deployments/ada/embeddings"}
    rows = [
        good,
        dial_row("r4", "Where?", None),
        dial_row("r5", "  ", "Here."),
        failed,
        embedding,
        dial_row("r1", "When, again?", "At eight."),
        rating_row("r1", True),
        {**rating_row("r1", True), "request": {"uri": "/v1/app/rate", "time": None, "body": '{"rate": 1}'}},
    ]
    write_part(tmp_path / "app/2024-05-01/part-0.parquet", rows)
    (tmp_path / "app/2024-05-01/part-1.parquet").write_bytes(
        (tmp_path / "app/2024-05-01/part-0.parquet").read_bytes()[:-200]
    )
    (tmp_path / "app/2024-05-01/part-2.parquet").write_bytes(b"")
    write_part(tmp_path / "app/2024-05-02/part-0.parquet", [dial_row("r9", "Why?", "So.", time="2024-05-02T08:00:00")])
    samples, left_out, ratings = read(tmp_path)
    assert [sample["id"] for sample in samples] == ["r1", "r9"]
    assert left_out == {
        "rows without an answer": 1,
        "rows without a question": 1,
        "requests that failed with status 500": 1,
        "calls that are not chats": 1,
        "rows with a repeated id": 1,
        "ratings without responseId or rate": 1,
        "incomplete or damaged parts": 2,
    }
    assert [(rating.response_id, rating.liked, rating.user) for rating in ratings] == [("r1", True, "user-1")]


def test_notes_say_what_was_left_out_and_where(tmp_path):
    path = write_part(tmp_path / "app/2024-05-01/part-0.parquet", [dial_row("r1", "q", "a"), dial_row("r2", "q", None)])
    reader = open_reader(str(tmp_path))
    list(reader.batches())
    assert reader.report.notes == [f"rows without an answer: 1, first in {path}, row 2; they are left out"]


@pytest.mark.slow
def test_a_part_damaged_in_its_middle_gives_the_rows_before(tmp_path):
    rows = [{"question": f"question {n}", "answer": "a", "attachments": "[]"} for n in range(20_000)]
    path = tmp_path / "app/2024-05-01/part-0.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=10_000, compression="gzip", use_dictionary=False)
    content = bytearray(path.read_bytes())
    start = pq.ParquetFile(path).metadata.row_group(1).column(0).data_page_offset
    content[start : start + 4000] = bytes(4000)
    path.write_bytes(content)
    samples, left_out, _ = read(tmp_path)
    assert len(samples) == 10_000
    assert left_out == {"incomplete or damaged parts": 1}


def test_a_log_without_a_usable_row_says_why(tmp_path):
    write_part(tmp_path / "app/2024-05-01/part-0.parquet", [dial_row("r1", "q", None)])
    with pytest.raises(InputError, match=r"has no samples \(rows without an answer: 1\)"):
        read_dataset(str(tmp_path))


def test_a_server_that_does_not_answer_is_not_a_damaged_part(bucket, monkeypatch, tmp_path):
    path = write_part(tmp_path / "p.parquet", [dial_row("r1", "q", "a")])
    url = bucket.write("app/2024-05-01/p.parquet", Path(path).read_bytes())
    place = open_place(url)
    real = type(place).open_input
    calls = []

    def failing(self):
        calls.append(self.path)
        if len(calls) > 1:
            raise StorageError(f"cannot read {self}: the server does not answer")
        return real(self)

    monkeypatch.setattr(type(place), "open_input", failing)
    with pytest.raises(StorageError, match="does not answer"):
        read(bucket.url)


# What is attached


def attached(*attachments):
    message = {"role": "assistant", "content": "a", "custom_content": {"attachments": list(attachments)}}
    return {**dial_row("r", "q", "a"), "assembled_response": json.dumps({"id": "r", "choices": [{"message": message}]})}


OTHER = {"type": "text/markdown", "title": "a table", "data": "| a |"}


def cited(text, number):
    return {"type": "text/markdown", "title": f"[{number}] fares.pdf", "data": text, "reference_url": "files/fares.pdf"}


KIND = retrieval_attachment()["type"]


@pytest.mark.parametrize(
    ("attachments", "texts", "left_out"),
    [
        ([], None, {}),
        ([OTHER], None, {"attachments of another type": 1}),
        ([cited("one", 1), OTHER, cited("two", 2)], ["one", "two"], {"attachments of another type": 1}),
        ([cited("one", 1), cited("one", 1)], ["one"], {}),
        ([cited("one", 1), retrieval_attachment("one", "two")], ["one", "two"], {}),
        ([{**cited("one", 1), "reference_url": None}], ["one"], {}),
        ([OTHER, retrieval_attachment("one", "two")], ["one", "two"], {"attachments of another type": 1}),
        ([retrieval_attachment()], [], {}),
        ([{"type": KIND, "data": '{"chunks": ['}], None, {"attachments whose JSON is broken": 1}),
        ([{"type": KIND, "data": "[1]"}], None, {"attachments without a list of chunks": 1}),
        ([{"type": KIND, "data": '{"chunks": [1]}'}], None, {"attachments without a list of chunks": 1}),
        ([{"type": KIND}], None, {"attachments without data": 1}),
        ([{"type": KIND, "url": "files/x"}], None, {"attachments with a link in place of chunks": 1}),
        ([{"type": KIND, "data": {"chunks": [{"text": None, "source": {}}]}}], [""], {}),
    ],
)
def test_chunks_come_from_the_attachment_of_the_retrieval(tmp_path, attachments, texts, left_out):
    write_part(tmp_path / "app/2024-05-01/part-0.parquet", [attached(*attachments)])
    [sample], counted, _ = read(tmp_path)
    assert (sample["contexts"] and [chunk["text"] for chunk in sample["contexts"]]) == (texts or sample["contexts"])
    assert (sample["contexts"] is None) == (texts is None)
    assert counted == left_out


def test_chunks_may_be_attached_to_a_stage(tmp_path):
    stages = [{"name": "search", "attachments": [retrieval_attachment("one")]}]
    message = {"content": "a", "custom_content": {"stages": stages}}
    row = {
        **dial_row("r", "q", "a"),
        "assembled_response": json.dumps({"id": "r", "choices": [{"message": message}]}),
    }
    write_part(tmp_path / "app/2024-05-01/part-0.parquet", [row])
    [sample], _, _ = read(tmp_path)
    assert [chunk["text"] for chunk in sample["contexts"]] == ["one"]


def test_attachments_of_the_older_layout_may_be_text(tmp_path):
    row = {
        "question": "q",
        "answer": "a",
        "documents": "guide.md",
        "attachments": json.dumps([retrieval_attachment("x")]),
    }
    write_part(tmp_path / "app/parsed_logs/2024/05/01/p.parquet", [row])
    [sample], _, _ = read(tmp_path)
    assert [chunk["text"] for chunk in sample["contexts"]] == ["x"]
    assert sample["documents"] == ["guide.md"]


def test_the_reply_is_read_where_the_parser_left_the_columns_empty(tmp_path):
    row = dial_row("r", "q from the body", "a from the reply")
    row["question"] = row["answer"] = None
    body = {"messages": [{"role": "user", "content": "q", "custom_content": {"attachments": [{"url": "files/a.pdf"}]}}]}
    row["request"] = {**row["request"], "body": json.dumps(body)}
    write_part(tmp_path / "app/2024-05-01/part-0.parquet", [row])
    [sample], _, _ = read(tmp_path)
    assert (sample["question"], sample["answer"]) == ("q", "a from the reply")
    assert sample["documents"] == ["files/a.pdf"]


@pytest.mark.parametrize("reply", ["Error: something is bad!", "[1]", '{"choices": []}', '{"choices": [7]}', None])
def test_a_reply_that_is_none_leaves_no_answer(tmp_path, reply):
    row = {**dial_row("r", "q", None), "assembled_response": reply}
    write_part(tmp_path / "app/2024-05-01/part-0.parquet", [row, dial_row("r2", "q", "a")])
    samples, left_out, _ = read(tmp_path)
    assert [sample["id"] for sample in samples] == ["r2"]
    assert left_out == {"rows without an answer": 1}


def test_columns_with_dots_in_their_names(tmp_path):
    row = dial_row("r", "q", "a")
    del row["chat"], row["user"]
    write_part(tmp_path / "app/2024-05-01/part-0.parquet", [{**row, "chat.id": "c9", "user": "u9"}])
    [sample], _, _ = read(tmp_path)
    metadata = json.loads(sample["metadata"])
    assert (metadata["chat_id"], metadata["user"]) == ("c9", "u9")


# Clocks


def test_a_time_that_is_not_of_its_folder_s_day_is_not_used(tmp_path):
    rows = [
        dial_row("near", "q1", "a", time="2024-05-02T23:00:00"),
        dial_row("far", "q2", "a", time="1970-01-01T00:00:00"),
        dial_row("none", "q3", "a", time="yesterday"),
    ]
    write_part(tmp_path / "app/2024-05-01/part-0.parquet", rows)
    samples, left_out, _ = read(tmp_path)
    times = [json.loads(sample["metadata"]).get("time") for sample in samples]
    assert times == ["2024-05-02T23:00:00+00:00", None, None]
    assert {json.loads(sample["metadata"])["day"] for sample in samples} == {"2024-05-01"}
    assert left_out == {"times outside their folder's day": 1}


def test_one_file_alone_is_told_by_its_columns(tmp_path):
    path = write_part(tmp_path / "anything.parquet", [dial_row("r", "q", "a")])
    [sample] = read_dataset(path)
    assert sample.metadata["day"] == "2024-05-01"
    assert "deployment" not in sample.metadata
    lines = tmp_path / "log.jsonl"
    lines.write_text(json.dumps(dial_row("r", "q", "a")) + "\n{broken\n" + json.dumps(dial_row("s", "q", "a")) + "\n")
    samples, left_out, _ = read(lines)
    assert [sample["id"] for sample in samples] == ["r", "s"]
    assert left_out == {"rows that cannot be read": 1}


def test_earlier_messages_of_a_request_are_the_history():
    row = dial_row("r1", "What do children pay?", "Five.")
    attached = {"attachments": [retrieval_attachment("Adults pay ten.")]}
    body = json.loads(row["request"]["body"])
    body["messages"] = [
        {"role": "user", "content": "What do adults pay?"},
        {"role": "assistant", "content": "Ten.", "custom_content": attached},
        *body["messages"],
    ]
    row["request"]["body"] = json.dumps(body)
    (sample,) = read_dataset([row], format="dial_logs")
    assert sample.history[0] == Turn("user", "What do adults pay?")
    assert [chunk.text for chunk in sample.history[1].contexts] == ["Adults pay ten."]
