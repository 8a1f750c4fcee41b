"""Notes reach users of Python."""

import ragstone
from ragstone.api.functions import log_note


def test_guessed_columns_are_told(caplog):
    rows = [{"q": f"When does boat {n} leave?", "a": "At nine.", "passages": "It leaves at nine."} for n in range(3)]
    ragstone.evaluate(rows, ["ari"])
    told = [record.getMessage() for record in caplog.records if record.name == "ragstone"]
    assert told[0].startswith("note: columns read by their names: question=q, answer=a")
    assert told[0].endswith("(in Python, --map is columns=, --format is format=)")
    assert "one chunk" in told[1]
    assert "(in Python, --split-contexts is split_contexts=)" in told[1]


def test_a_function_gets_the_notes_instead(caplog):
    heard = []
    ragstone.evaluate([{"q": "When does it leave?", "a": "At nine."}], ["ari"], note=heard.append)
    assert "columns read by their names" in heard[0]
    assert caplog.records == []


def test_a_note_without_options_is_left_alone(caplog):
    log_note("nothing --mapped here")
    assert caplog.messages == ["note: nothing --mapped here"]
