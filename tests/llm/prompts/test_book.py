"""Prompt files: the packaged ones are sound, a user's replace them one by one, and mistakes are named."""

import importlib.resources
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ragstone.errors import DefinitionError, UsageError
from ragstone.llm.prompts import PromptBook
from ragstone.llm.prompts.book import GUARD
from ragstone.llm.prompts.fence import letters, make_code
from ragstone.llm.reply_types import KINDS

PACKAGED = importlib.resources.files("ragstone.llm.prompts")
SLOTS = {
    "claims": ("question", "text"),
    "triplets": ("question", "text"),
    "claims_and_entities": ("question", "text"),
    "verdicts": ("question", "text", "claims"),
    "context_verdicts": ("question", "chunks", "claims"),
    "questions": ("answer", "count"),
    "needed_sentences": ("question", "sentences"),
    "usefulness": ("question", "answer", "chunks"),
    "answer_match": ("question", "references", "answer"),
    "relevance_grade": ("question", "passage"),
    "grade": ("question", "contexts", "reference", "answer"),
    "own_reference": ("question", "contexts"),
    "pair": ("question", "contexts", "reference", "answer_a", "answer_b"),
    "pair_reasoned": ("question", "contexts", "reference", "answer_a", "answer_b"),
    "stance": ("question", "answer"),
    "citations": ("question", "answer", "passages"),
    "new_question": ("kind", "manner", "titles", "passages", "asked"),
    "answer_from_passages": ("question", "titles", "passages"),
    "answer_from_memory": ("question",),
    "simulated_user": ("persona", "goal", "messages"),
    "nuggets": ("question", "answer", "nuggets"),
    "new_nuggets": ("question", "known", "passages"),
    "nugget_importance": ("question", "nuggets"),
    "checklist": ("question", "contexts", "reference", "answer", "items"),
    "pass_fail": ("question", "contexts", "reference", "answer"),
    "decision": ("question", "contexts", "answer"),
    "standalone_question": ("history", "question"),
}
# Those that are filled for a purpose have examples only where somebody asks for them; UMBRELA's has none.
FILLED = ("decision", "relevance_grade", "grade", "own_reference", "pair", "pair_reasoned", "checklist", "pass_fail")


def packaged(name):
    return PACKAGED.joinpath(f"{name}.md").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "prompts"
    path.mkdir()
    return path


ONE_TOKEN = {
    "token_support": ("evidence", "claim"),
    "token_contradiction": ("evidence", "claim"),
    "token_match": ("question", "reference", "answer"),
    "token_pair": ("question", "contexts", "reference", "answer_a", "answer_b"),
    "token_part": ("evidence", "claim"),
}


def test_prompts_for_one_token_have_examples_of_both_replies():
    for name in ("token_support", "token_match"):
        replies = [example.reply for example in PromptBook().get(name).examples]
        assert set(replies) == {'"no"', '"yes"'}, name
        assert 3 / 8 <= replies.count('"yes"') / len(replies) <= 1 / 2, name
    replies = [example.reply for example in PromptBook().get("token_contradiction").examples]
    assert set(replies) == {'"true"', '"false"', '"unknown"'}


def test_each_prompt_has_its_slots_and_examples():
    book = PromptBook()
    assert {name: book.get(name).slots for name in book.names} == {**SLOTS, **ONE_TOKEN}
    for name in SLOTS:
        prompt = book.get(name)
        assert prompt.version >= 1
        assert len(prompt.examples) >= (0 if name in FILLED else 2)
        assert {
            type(value) for example in prompt.examples for slot, value in example.data.items() if slot in prompt.forms
        } <= {list}


@pytest.mark.parametrize("name", SLOTS)
def test_examples_are_right_by_their_own_rules(name):
    for example in PromptBook().get(name).examples:
        reply = KINDS[name].model_validate_json(example.reply).model_dump()
        assert json.loads(example.reply) == reply
        if "verdicts" in reply:
            assert [entry["claim"] for entry in reply["verdicts"]] == list(range(1, len(example.data["claims"]) + 1))
        labels = set(letters(len(example.data.get("chunks", []))))
        for entry in reply.get("verdicts", []):
            named = {part for label in entry.get("supported_by", []) for part in label.split("+")}
            assert named | set(entry.get("contradicted_by", [])) <= labels
            assert not named & set(entry.get("contradicted_by", []))
        assert set(reply.get("useful", [])) <= labels
        assert set(reply.get("needed", [])) <= set(range(1, len(example.data.get("sentences", [])) + 1))
        assert set(reply.get("matches", [])) <= set(range(1, len(example.data.get("references", [])) + 1))
        if "count" in example.data and not reply["noncommittal"]:
            assert len(reply["questions"]) == int(example.data["count"])
        assert all(entity in example.data["text"] for entity in reply.get("entities", []))


def verdict_examples(name):
    """For each example its entries."""
    return [json.loads(example.reply)["verdicts"] for example in PromptBook().get(name).examples]


def test_claims_have_numbers_and_chunks_have_letters():
    for name in ("context_verdicts", "usefulness"):
        assert PromptBook().get(name).forms["chunks"] == "letters"
    content = PromptBook().get("context_verdicts").render({"question": "q", "claims": ["c"], "chunks": ["x", "y"]})
    code = make_code({"question": "q", "chunks": ["x", "y"], "claims": ["c"]}, "")
    assert f"[A {code}] x\n[B {code}] y\n" in content[-1].content
    assert f"[1 {code}] c\n" in content[-1].content


def test_examples_of_chunks_have_no_pattern():
    """Small models copy what is regular: claim k was "supported by chunk k" in 6 of 6 replies."""
    examples = verdict_examples("context_verdicts")
    assert any(len(entries) == 1 for entries in examples)
    diagonal = [
        letters(len(entries))[place] in entry["supported_by"]
        for entries in examples
        for place, entry in enumerate(entries)
    ]
    assert sum(diagonal) == 0
    *_, last = examples
    outcomes = {(bool(entry["supported_by"]), bool(entry["contradicted_by"])) for entry in last}
    assert outcomes == {(True, False), (False, True), (False, False)}
    firsts = [bool(entries[0]["supported_by"]) for entries in examples]
    assert len(set(firsts)) == 2


def test_examples_of_verdicts_are_mixed_and_one_is_a_no():
    examples = verdict_examples("verdicts")
    assert any(len(entries) == 1 for entries in examples)
    words = [[entry["verdict"] for entry in entries] for entries in examples]
    assert set(words[-1]) == {"entailment", "contradiction", "neutral"}
    # A reply that continues the last example as it began another one would be no prefix of it.
    assert words[0][: len(words[-1])] != words[-1][: len(words[0])]
    for name in ("verdicts", "claims", "triplets", "claims_and_entities"):
        assert "No." in [example.data["text"] for example in PromptBook().get(name).examples]


@pytest.mark.parametrize("name", ["claims", "triplets", "claims_and_entities", "needed_sentences", "usefulness"])
def test_the_last_example_does_not_find_nothing(name):
    reply = json.loads(PromptBook().get(name).examples[-1].reply)
    assert all(reply.values())


def test_the_verdict_of_all_chunks_is_not_asked_for():
    assert 'together"' not in packaged("context_verdicts")


@pytest.mark.parametrize("name", SLOTS)
def test_prompts_are_compact(name):
    prompt = PromptBook().get(name)
    messages = prompt.render({slot: [] if slot in prompt.forms else "" for slot in prompt.slots})
    assert sum(len(message.content) for message in messages) < 5000


def test_a_conversation_is_instructions_then_examples_then_data():
    messages = PromptBook().get("claims").render({"question": "When?", "text": "At nine."})
    assert [message.role for message in messages] == ["system", *["user", "assistant"] * 4, "user"]
    assert messages[0].content.endswith(GUARD)
    assert "At nine." in messages[-1].content
    assert not any("At nine." in message.content for message in messages[:-1])


def test_data_must_be_what_the_prompt_takes():
    with pytest.raises(DefinitionError, match="takes question, text, but got question"):
        PromptBook().get("claims").render({"question": "When?"})
    with pytest.raises(UsageError, match=r"unknown prompt 'claim'\. Did you mean claims"):
        PromptBook().get("claim")


def test_a_folder_replaces_single_prompts(folder):
    (folder / "claims.md").write_text(
        "# claims, version 7\n\n## System\n\nShort.\n\n## User\n\n{text}\nof {question}\n"
    )
    (folder / "notes.txt").write_text("not a prompt")
    book, usual = PromptBook(folder), PromptBook()
    messages = book.get("claims").render({"question": "When?", "text": "Nine."})
    assert book.get("claims").version == 7
    assert messages[0].content == f"Short.\n\n{GUARD}"
    assert len(messages) == 2
    assert book.get("claims").hash != usual.get("claims").hash
    assert book.get("verdicts") == usual.get("verdicts")


def test_the_hash_is_of_the_whole_content(folder):
    text = packaged("claims")
    usual = PromptBook().get("claims").hash
    hashes = {usual}
    for old, new in [
        ("version 2", "version 3"),
        ("Add nothing", "Add little"),
        ("1931", "1932"),
        ("{question}\n{text}", "{text}\n{question}"),
    ]:
        assert old in text
        (folder / "claims.md").write_text(text.replace(old, new), encoding="utf-8")
        hashes.add(PromptBook(folder).get("claims").hash)
    assert len(hashes) == 5
    (folder / "claims.md").write_bytes(text.replace("\n", "\r\n").encode())
    assert PromptBook(folder).get("claims").hash == usual


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("claim.md", "x", "unknown prompt file '.*claim.md'. Choose from: claims"),
        ("claims.md", "## System\nx", r"claims.md: the first line must be like"),
        ("claims.md", "# claims, version 1\n## System\nx\n## User\n{question}", r"claims.md: .* has no slot \{text\}"),
        (
            "claims.md",
            "# claims, version 1\n## System\nx\n## User\n{question}{text}{chunks}",
            r"claims.md: unknown slot \{chunks\}",
        ),
        ("claims.md", "# claims, version 1\n## System\nx\n## User\n{question}{text}{text}", r"\{text\} occurs twice"),
        ("verdicts.md", "# v, version 1\n## System\nx\n## User\n{question}{claims}{text}", r"\{claims: list\}"),
        (
            "context_verdicts.md",
            "# c, version 1\n## System\nx\n## User\n{question}{claims: list}{chunks: list}",
            r"\{chunks: letters\}",
        ),
        ("claims.md", "# claims, version 1\n## User\n{question}{text}", "one part '## System'"),
        ("claims.md", "# claims, version 1\n## Sytem\nx", "unknown part '## sytem'"),
        (
            "claims.md",
            "# c, version 1\n## System\nx\n## Example\n### text\na\n### reply\n{}\n## User\n{question}{text}",
            "example 1: the part '### question' is missing",
        ),
        (
            "claims.md",
            "# c, version 1\n## System\nx\n## Example\n### text\na\n## User\n{question}{text}",
            "no part '### reply'",
        ),
        (
            "claims.md",
            "# c, version 1\n## System\nx\n## Example\n### text\na\n### question\nb\n### reply\n{}\n## User\n{question}{text}",
            "example 1: .*claims",
        ),
        (
            "claims.md",
            "# c, version 1\n## System\nx\n## Example\n### text\na\n### question\nb\n### why\nc\n### reply\n{}\n## User\n{question}{text}",
            "'### why' is not a slot",
        ),
    ],
)
def test_mistakes_in_a_folder_are_named(folder, file, text, said):
    (folder / file).write_text(text)
    with pytest.raises(UsageError, match=said):
        PromptBook(folder)


def test_folders_and_files_that_cannot_be_read(folder):
    with pytest.raises(UsageError, match="does not exist"):
        PromptBook(folder / "nowhere")
    (folder / "claims.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"claims.md: cannot be read as UTF-8"):
        PromptBook(folder)


@pytest.mark.slow
def test_prompts_are_in_the_wheel(tmp_path):
    root = Path(__file__).parents[3]
    for part in ("src", "pyproject.toml", "README.md", "LICENSE"):
        source = root / part
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / part)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    names = zipfile.ZipFile(next((tmp_path / "dist").glob("*.whl"))).namelist()
    assert {f"ragstone/llm/prompts/{name}.md" for name in SLOTS} <= set(names)


def test_a_prompt_is_filled_for_a_purpose():
    page = PromptBook().get("pair")
    terms = {"aspect": "brevity", "instruction": "how short it is", "guidance": ""}
    filled = page.fill(terms, ["question", "answer_a", "answer_b"])
    assert filled.slots == ("question", "answer_a", "answer_b")
    assert "better with respect to brevity. Note that brevity measures how short it is." in filled.system
    assert "\n\n\n" not in filled.system
    assert filled.hash != page.hash
    assert filled.hash != page.fill({**terms, "aspect": "length"}, ["question", "answer_a", "answer_b"]).hash
    with pytest.raises(DefinitionError, match=r"\[\[aspect\]\]"):
        page.fill({"instruction": "", "guidance": ""}, ["question"])


def test_a_users_layout_shows_no_more_than_ours(folder):
    text = (
        packaged("pair")
        .replace("{reference}", "The reference: {reference}")
        .replace("{answer_b}", "B: {answer_b} of {contexts: list}")
    )
    (folder / "pair.md").write_text(text.replace("{contexts: list}\n", "", 1))
    filled = (
        PromptBook(folder)
        .get("pair")
        .fill(dict.fromkeys(("aspect", "instruction", "guidance"), "x"), ["question", "answer_b"])
    )
    assert filled.template == "{question}\nB: {answer_b} of "


def test_words_that_fill_a_prompt_cannot_open_places_of_their_own():
    terms = {"aspect": "[[instruction]] {answer_a}", "instruction": "x", "guidance": ""}
    filled = PromptBook().get("pair").fill(terms, ["question"])
    assert "[[instruction]] {answer_a}" in filled.system
    assert filled.slots == ("question",)
