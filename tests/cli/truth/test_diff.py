"""Compare and merge versions of ground truth."""

import json
from dataclasses import replace

from ragstone.truth.model import Case
from tests.cli.truth.conftest import ROWS, write


def test_diff(cli, data):
    cli("truth", "import", data, "harbour")
    write(data, [{**ROWS[0], "references": ["13 metres"], "facts": ["It is [bold]deep[/bold]"]}])
    cli("truth", "import", data, "harbour", "--replace")
    told = cli("truth", "diff", "harbour").out
    assert told == cli("truth", "diff", "harbour@1", "harbour@2").out
    assert told.partition("\n\nnext:")[0].splitlines() == [
        "harbour@1 → harbour@2: cases: 1 removed, 1 changed; facts: 1 gained, 1 lost",
        "",
        "- pier  How long is the pier?",
        "",
        "~ depth  How deep is the harbour?",
        "    references         - 12 metres",
        "                       + 13 metres",
        "    facts              - The basin is 12 metres deep  [accepted, manual]",
        "    facts              + It is [bold]deep[/bold]  [accepted, manual]",
    ]
    found = json.loads(cli("truth", "diff", "harbour", "--json").out)
    assert found["counts"]["removed"] == 1
    assert found["changes"][1]["after"] == ["13 metres"]
    assert cli("truth", "diff", "harbour@1").code == 2


def test_merge_refuses_to_decide_and_then_does_as_told(cli, data, store):
    cli("truth", "import", data, "harbour")
    case, other = store.read("harbour").cases
    store.save("fork", [replace(case, references=["14 metres"], answerable=True), Case("new", "Who?")], author="Bo")
    refused = cli("truth", "merge", "harbour", "fork")
    assert refused.code == 1
    assert "1 conflict; nothing was saved" in refused.err
    assert "ours    12 metres\n    theirs  14 metres" in refused.err
    assert store.newest("harbour") == 1
    # With the base it is known that only the other side changed it, and that it removed the pier.
    done = cli("truth", "merge", "harbour", "fork", "--base", "harbour@1")
    assert done.code == 0
    merged = store.read("harbour")
    assert merged.cases == [replace(case, references=["14 metres"], answerable=True), Case("new", "Who?")]
    assert merged.info.lineage.sources == ["harbour@1", "fork@1", "base harbour@1"]
    assert "nothing to merge" in cli("truth", "merge", "harbour", "fork").out
    told = json.loads(cli("truth", "merge", "harbour", "harbour@1", "--prefer", "theirs", "--json").out)
    assert [conflict["field"] for conflict in told["conflicts"]] == ["references"]
    assert store.read("harbour").cases[0].references == ["12 metres"]
    assert store.read("harbour").cases[2] == other
    assert cli("truth", "merge", "harbour", "fork", "--prefer", "mine").code == 2
