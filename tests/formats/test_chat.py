import json

import pytest

from ragstone.data.dataset import view_samples
from ragstone.data.types import Chunk, Turn
from ragstone.errors import InputError, UnknownColumnsError
from ragstone.formats import open_reader, read_dataset
from tests.formats.fixtures import fixture_chat


def test_one_sample_per_answered_message(tmp_path):
    first, second, alone = read_dataset(fixture_chat(tmp_path)[0])
    assert [sample.id for sample in (first, second)] == ["c1#1", "c1#2"]
    assert alone.id.endswith("#1")
    assert (first.question, first.answer, first.contexts) == ("What do adults pay?", "Ten.", [Chunk("Adults pay ten.")])
    assert first.history is None
    assert (second.question, second.answer) == ("And children?", "Five.")
    assert second.contexts == [Chunk("Children pay five.", "d1")]
    assert second.references == ["Children pay five."]
    assert second.history[1:] == [
        Turn("user", "What do adults pay?"),
        Turn("assistant", "Ten.", [Chunk("Adults pay ten.")]),
    ]
    assert second.metadata == {"conversation": "c1", "turn": 2}


@pytest.mark.parametrize("name", ["contexts", "contexts_by_turn"])
@pytest.mark.parametrize("written", [list, json.dumps])
def test_contexts_of_the_row_may_be_one_list_per_answer(name, written):
    said = ["one?", "One.", "two?", "Two."]
    messages = [{"role": role, "content": text} for role, text in zip(["user", "assistant"] * 2, said, strict=True)]
    row = {"messages": messages, name: written([["a", "b"], [{"id": "c", "text": "d"}]])}
    first, second = read_dataset([row])
    assert (first.contexts, second.contexts) == ([Chunk("a"), Chunk("b")], [Chunk("d", "c")])
    assert second.history[1] == Turn("assistant", "One.")
    assert [one.contexts for one in read_dataset([{**row, name: ["a", "b"]}])] == [None, [Chunk("a"), Chunk("b")]]
    with pytest.raises(InputError, match="entry 1 must be a text"):
        read_dataset([{**row, name: [["a"], ["b"], ["c"]]}])


def test_sharegpt():
    turns = [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]
    (sample,) = read_dataset([{"id": "x", "conversations": turns, "topic": "t"}])
    assert (sample.id, sample.question, sample.answer) == ("x#1", "a", "b")
    assert sample.metadata == {"conversation": "x", "turn": 1, "topic": "t"}


def test_rows_with_a_question_of_their_own_are_not_chats():
    assert open_reader([{"question": "a", "messages": []}]).format.name == "ragstone"


def test_one_conversation_with_tools_does_not_change_the_others():
    plain = [{"role": "user", "content": "a?"}, {"role": "assistant", "content": "b."}]
    call = {"id": "1", "function": {"name": "search", "arguments": "{}"}}
    tools = [
        plain[0],
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "Found."},
        plain[1],
    ]
    rows = [{"messages": [*plain, *plain]}, {"messages": plain}, {"messages": tools}]
    reader = open_reader(rows)
    assert reader.format.name == "chat"
    assert len(read_dataset(rows)) == 4
    assert open_reader(rows[2:]).format.name == "langgraph"


def test_an_empty_list_of_chunks_means_that_nothing_was_retrieved():
    messages = [{"role": "user", "content": "a?"}, {"role": "assistant", "content": "b.", "contexts": []}]
    assert read_dataset([{"messages": messages}])[0].contexts == []
    del messages[1]["contexts"]
    assert read_dataset([{"messages": messages}])[0].contexts is None


def test_time_and_tokens_of_a_row_are_those_of_its_last_answer():
    turns = [{"role": "user", "content": "a?"}, {"role": "assistant", "content": "b."}] * 2
    first, last = read_dataset([{"messages": turns, "usage": {"prompt_tokens": 9}, "latency_s": 2, "topic": "t"}])
    assert first.metadata.keys() == {"conversation", "turn", "topic"}
    assert (last.metadata["input_tokens"], last.metadata["latency_s"]) == (9, 2)


TURNS = [
    {"role": "user", "content": "When?"},
    {"role": "assistant", "content": "At nine."},
    {"role": "user", "content": "And on Sunday?"},
    {"role": "assistant", "content": "At ten."},
]
SHARED = [{"from": "human" if one["role"] == "user" else "gpt", "value": one["content"]} for one in TURNS]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    "document",
    [
        {"messages": TURNS},
        {"conversations": SHARED},
        {"messages": TURNS, "contexts": ["a", "b", "c", "d"]},
        TURNS,
        SHARED,
        [{"messages": TURNS}],
    ],
)
def test_a_file_with_one_conversation(tmp_path, document, indent):
    path = tmp_path / "one.json"
    path.write_text(json.dumps(document, indent=indent))
    first, second = read_dataset(str(path))
    assert (first.question, first.answer, second.question, second.answer) == (
        "When?",
        "At nine.",
        "And on Sunday?",
        "At ten.",
    )
    assert [turn.text for turn in second.history] == ["When?", "At nine."]
    (last,) = read_dataset(str(path), "langgraph") if document not in (SHARED, {"conversations": SHARED}) else [second]
    assert (last.question, last.answer) == ("And on Sunday?", "At ten.")


@pytest.mark.parametrize(
    ("header", "order"),
    [
        ("session,turn,role,message", None),
        ("chat_id,timestamp,sender,text", "2026-05-01T10:0{}:00Z"),
        ("thread_id,seq,from,content", "{}"),
    ],
)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_log_of_messages(tmp_path, header, order, delimiter):
    lines = [("s1", 2, "Bot", "At nine."), ("s2", 1, "Customer", "Where?"), ("s1", 1, "Customer", "When?")]
    lines += [("s1", 4, "Bot", "At ten."), ("s1", 3, "Customer", "And on Sunday?"), ("s3", 1, "customer", "x?")]
    lines += [("s2", 2, "bot", "Here.")]
    rows = [[name, order.format(turn) if order else turn, role, text] for name, turn, role, text in lines]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(delimiter.join(map(str, row)) for row in [header.split(","), *rows]))
    reader = open_reader(str(path))
    samples = list(view_samples(next(reader.batches())))
    assert [(one.id, one.question, one.answer) for one in samples] == [
        ("s1#1", "When?", "At nine."),
        ("s1#2", "And on Sunday?", "At ten."),
        ("s2#1", "Where?", "Here."),
    ]
    assert reader.report.notes == [
        "user messages without a reply: 1, for example 'line 7'; they are left out",
        "conversations without an answered question: 1, for example 's3'; they are left out",
    ]


def test_messages_with_chunks_and_columns_of_the_conversation():
    rows = [{"chat_id": 7, "role": "user", "text": "When?", "channel": "web"}]
    rows += [{"chat_id": 7, "role": "assistant", "text": "At nine.", "channel": "web", "contexts": '[{"id": "d1"}]'}]
    (sample,) = read_dataset(rows)
    assert (sample.id, sample.contexts) == ("7#1", [Chunk(id="d1")])
    assert sample.metadata == {"conversation": "7", "turn": 1, "channel": "web"}


def test_langgraph_refuses_rows_without_messages():
    with pytest.raises(InputError, match="has no messages"):
        read_dataset([{"session": "a", **TURNS[0]}, {"session": "a", **TURNS[1]}], "langgraph")


def log_of(field, texts):
    """Conversations with names of their own; the answers have texts in a field."""
    said = [("customer", "When do you open?"), ("bot", "At nine."), ("customer", "And on Sunday?"), ("bot", "At ten.")]
    turns = [{"speaker": who, "body": text, **({field: texts} if who == "bot" else {})} for who, text in said]
    return [{"session": f"s{n}", "started": f"2026-01-0{n}", "transcript": turns} for n in (1, 2)]


HITS = ["We open at nine.", "On Sunday we open at ten."]


def one_row_per_message(log):
    return [
        {
            "session": row["session"],
            "turn": turn,
            **{key: part if isinstance(part, str) else json.dumps(part) for key, part in message.items()},
        }
        for row in log
        for turn, message in enumerate(row["transcript"])
    ]


@pytest.mark.parametrize("form", [list, one_row_per_message])
@pytest.mark.parametrize(
    ("field", "texts"), [("kb_hits", HITS), ("sources", HITS), ("from_index", [f"{HITS[0]} {HITS[1]}"])]
)
def test_a_log_with_names_of_its_own(form, field, texts):
    reader = open_reader(form(log_of(field, texts)))
    rows = [sample for batch in reader.batches() for sample in view_samples(batch)]
    assert [row.id for row in rows] == ["s1#1", "s1#2", "s2#1", "s2#2"]
    assert (rows[1].question, rows[1].answer) == ("And on Sunday?", "At ten.")
    assert rows[1].contexts == [Chunk(text) for text in texts]
    assert reader.report.notes == [f"the chunks of messages are read from '{field}'"]


def test_lists_of_replies_to_choose_from_are_not_chunks():
    log = log_of("quick_replies", ["Do you open on Sunday as well?", "Where can I park near the shop?"])
    assert {sample.contexts for sample in read_dataset(log)} == {None}


def test_the_user_names_the_messages_and_unknown_speakers_are_a_problem():
    log = log_of("kb_hits", HITS)
    assert len(read_dataset(log, columns={"messages": "transcript"})) == 4
    log[0]["transcript"] = [{"speaker": "Lisa", "body": "Hello."}, *log[0]["transcript"]]
    with pytest.raises(InputError, match="the role 'Lisa'"):
        read_dataset(log)


def test_a_history_beside_a_prompt_is_not_the_conversation():
    rows = [
        {"prompt": f"What does {n} cost?", "chat_log": log_of("x", [])[0]["transcript"], "output": "Nine."}
        for n in range(3)
    ]
    assert [sample.question for sample in read_dataset(rows)] == [row["prompt"] for row in rows]


def shop_log(user="customer", assistant="shopbot", **more):
    """Two conversations with two exchanges each; `more` is in each message of the assistant."""
    said = [(user, "When do you open?"), (assistant, "At nine."), (user, "On Sunday?"), (assistant, "At ten.")]
    return [
        {"chat": f"s{name}", "n": n, "from": who, "body": text, **(more if who == assistant else {})}
        for name in (1, 2)
        for n, (who, text) in enumerate(said, start=1)
    ]


def in_one_column(log):
    """The log with one conversation per row."""
    return [{"chat": chat, "messages": [one for one in log if one["chat"] == chat]} for chat in ("s1", "s2")]


def in_a_column_of_any_name(log):
    return [{"id": row["chat"], "transcript": row["messages"]} for row in in_one_column(log)]


@pytest.mark.parametrize("form", [list, in_one_column, in_a_column_of_any_name])
@pytest.mark.parametrize(
    ("log", "notes"),
    [
        (shop_log(), ["'shopbot' is read as the assistant"]),
        (
            shop_log("Maria", "ShopBot", kb_hits=HITS),
            [
                "the chunks of messages are read from 'kb_hits'",
                "'maria' is read as the user",
                "'shopbot' is read as the assistant",
            ],
        ),
    ],
)
def test_of_two_roles_the_unknown_one_or_the_one_with_chunks_is_the_assistant(form, log, notes):
    reader = open_reader(form(log))
    assert [one.answer for batch in reader.batches() for one in view_samples(batch)] == ["At nine.", "At ten."] * 2
    assert reader.report.notes == notes


@pytest.mark.parametrize("format", [None, "chat"])
def test_the_user_names_the_assistant_if_the_log_does_not_show_it(format):
    log = shop_log("maria")
    with pytest.raises(UnknownColumnsError, match="roles maria, shopbot; which one is the assistant") as asked:
        read_dataset(log, format)
    assert asked.value.options == ["--map", "assistant=shopbot"]
    assert len(read_dataset(log, format, columns={"assistant": "shopbot"})) == 4
    assert read_dataset(log, format, columns={"assistant": "maria"})[0].question == "At nine."
    with pytest.raises(UnknownColumnsError, match="roles maria, shopbot"):
        read_dataset(log, format, columns={"assistant": "shopbt"})


def test_conversations_in_a_column_of_any_name_are_not_chunks():
    log = in_a_column_of_any_name(shop_log("maria"))
    with pytest.raises(UnknownColumnsError, match="roles maria, shopbot; which one is the assistant") as asked:
        read_dataset(log)
    assert asked.value.options == ["--map", "messages=transcript", "--map", "assistant=shopbot"]
    assert len(read_dataset(log, columns={"assistant": "shopbot"})) == 4
    chunks = [{"type": kind, "text": f"We open at nine {kind}."} for kind in ("pdf", "html")]
    with pytest.raises(UnknownColumnsError, match="--map contexts=transcript"):
        read_dataset([{"transcript": chunks}] * 3)


def test_a_third_speaker_names_the_option_for_the_assistant():
    log = in_one_column(shop_log(assistant="bot"))
    log[1]["messages"].append({"from": "agent-7", "body": "Lisa here."})
    with pytest.raises(InputError, match=r"'agent-7' .* customer, bot, agent-7 .* --map assistant=NAME"):
        read_dataset(log)
    assert len(read_dataset(log, columns={"assistant": "bot"})) == 4


def test_the_assistant_is_one_of_several_roles_and_the_column_of_roles_has_any_name():
    log = [*shop_log(), {"chat": "s3", "n": 1, "from": "agent", "body": "Hello."}]
    log = [{"who": one.pop("from"), **one} for one in log]
    assert len(read_dataset(log, columns={"role": "who", "assistant": "shopbot"})) == 4


def named_log(conversations=3, **more):
    """A log whose users have names, a new one in each conversation; one of them is a word of the known roles."""
    logs = [shop_log(f"Guest {number}" if number else "user", "Milli", **more)[:4] for number in range(conversations)]
    return [{**row, "chat": f"s{number}"} for number, log in enumerate(logs) for row in log]


def test_all_other_names_are_users_if_the_assistant_is_named():
    log = [{"chat": "s0", "n": 0, "from": "system", "body": "Be kind."}, *named_log(60)]
    reader = open_reader(log, columns={"assistant": "milli"})
    samples = [one for batch in reader.batches() for one in view_samples(batch)]
    assert len(samples) == 120  # names after the first rows, too
    assert [turn.role for turn in samples[1].history] == ["system", "user", "assistant"]
    assert reader.report.notes[0].startswith("'guest 1', 'guest 2', ")
    assert reader.report.notes[0].endswith("'guest 12' and 47 more are read as the user")
    assert reader.report.notes[1] == "'milli' is read as the assistant"
    log = [{"who": one.pop("from"), **one} for one in log]
    assert len(read_dataset(log, columns={"role": "who", "assistant": "Milli"})) == 120
    assert len(read_dataset(log, "chat", columns={"role": "who", "assistant": "milli"})) == 120


@pytest.mark.parametrize(("column", "options"), [("from", []), ("who", ["--map", "role=who"])])
@pytest.mark.parametrize("conversations", [2, 3, 60])
def test_the_speaker_next_to_all_others_is_likely_the_assistant(column, options, conversations):
    log = [{column: one.pop("from"), "day": "2026-05-04", **one} for one in named_log(conversations, channel="web")]
    with pytest.raises(UnknownColumnsError, match="looks like a chat log with the roles user, milli, guest 1") as asked:
        read_dataset(log)
    assert asked.value.options == [*options, "--map", "assistant=milli"]


def test_texts_without_speakers_in_turns_are_not_a_chat_log():
    rows = [{"session": "s1", "text": f"We open at {n}.", "lang": "de" if n % 3 else "en"} for n in range(9)]
    with pytest.raises(UnknownColumnsError, match="cannot detect the format"):
        read_dataset(rows)
    rows = [{"session": "s1", "message": f"When, {n}?", "reply": f"At {n}.", "lang": "deen"[n % 2]} for n in range(9)]
    assert read_dataset(rows, columns={"question": "message"})[0].answer == "At 0."


def test_lost_messages_are_noted_and_do_not_change_the_ids_of_others():
    log = shop_log()
    del log[1], log[5]
    reader = open_reader(log)
    samples = [one for batch in reader.batches() for one in view_samples(batch)]
    assert [(one.id, one.question, one.answer) for one in samples] == [
        ("s1#2", "On Sunday?", "At ten."),
        ("s2#1", "When do you open?", "At ten."),
    ]
    assert reader.report.notes[1:] == [
        "user messages without a reply: 1, for example 'row 1'; they are left out",
        "replies followed by another reply: 1, for example 'row 5'; they are left out",
    ]


def test_a_message_of_a_log_needs_a_text():
    log = shop_log()
    log[3]["body"] = None
    reader = open_reader(log)
    assert sum(batch.num_rows for batch in reader.batches()) == 3
    assert "messages without a known role or a text: 1, for example 'row 4'; they are left out" in reader.report.notes
    log = shop_log()
    log[6]["bdy"] = log[6].pop("body")
    with pytest.raises(InputError, match=r"row 7: is a message without a text \(it has chat, n, from, bdy"):
        read_dataset(log)


def test_parts_of_chunks_have_any_names():
    log = shop_log(hits=[{"passage": HITS[0], "doc": "hours.md", "sim": 0.5, "lang": "en"}])
    reader = open_reader(log, columns={"contexts.source": "doc", "contexts.score": "sim"})
    samples = [one for batch in reader.batches() for one in view_samples(batch)]
    assert samples[0].contexts == [Chunk(HITS[0], score=0.5, source="hours.md")]
    assert "fields of chunks that are ignored: 1, for example 'lang'" in reader.report.notes[-1]
    assert read_dataset(log, columns={"contexts.text": "passage", "contexts.id": "doc"})[0].contexts[0].id == "hours.md"
