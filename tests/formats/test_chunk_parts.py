"""Images, pages and tables of chunks, from the forms in which tools write them and through every round trip."""

import json

import pytest

from ragstone.data.types import Chunk
from ragstone.errors import InputError
from ragstone.formats import open_reader, read_dataset
from ragstone.formats.chunk_parts import images_inside, table_text
from ragstone.formats.reader import write_dataset
from ragstone.text.table_cells import check_cells
from tests.images import data_uri, png

URI = data_uri(png())
RAW = URI.partition(",")[2]
FARES = "| Zone | Adult |\n|---|---|\n| A | 12 € |\n| B | 15 € |"


def chunks_of(*contexts, **more):
    return read_dataset([{"question": "?", "answer": "x", "contexts": list(contexts), **more}])[0].contexts


def test_our_own_names():
    given = {"text": "Fares rose.", "source": "report.pdf", "page": 12, "image": "charts/q3.png"}
    [chunk] = chunks_of(given)
    assert chunk == Chunk("Fares rose.", source="report.pdf", image="charts/q3.png", page="12")
    assert chunk.label == "report.pdf, p. 12"
    assert chunks_of({"image": URI}) == [Chunk("", image=URI)]
    assert chunks_of({"image": {"bytes": png(), "path": None}, "text": "a"})[0].image == URI


@pytest.mark.parametrize(("page", "read"), [(3, "3"), (3.0, "3"), ("iv", "iv"), (" 7 ", "7"), ("", None), (None, None)])
def test_pages(page, read):
    assert chunks_of({"text": "a", "page": page})[0].page == read


@pytest.mark.parametrize("part", [{"image": 7}, {"image": []}, {"page": [1]}, {"page": True}, {"table": 3}])
def test_what_is_neither_is_a_problem(part):
    with pytest.raises(InputError, match=next(iter(part))):
        chunks_of({"text": "a", **part})


@pytest.mark.parametrize(
    "table",
    [
        [["Zone", "Adult"], ["A", "12 €"], ["B", "15 €"]],
        [{"Zone": "A", "Adult": "12 €"}, {"Zone": "B", "Adult": "15 €"}],
        {"columns": ["Zone", "Adult"], "rows": [["A", "12 €"], ["B", "15 €"]]},
        {"columns": ["Zone", "Adult"], "data": [["A", "12 €"], ["B", "15 €"]]},
        {"Zone": ["A", "B"], "Adult": ["12 €", "15 €"]},
        FARES,
    ],
)
def test_a_table_becomes_text_with_headings_that_claims_are_checked_by(table):
    [chunk] = chunks_of({"table": table, "id": "t"})
    assert chunk.text == FARES
    assert check_cells("An adult pays 15 € in zone B.", chunk.text).agrees
    assert not check_cells("An adult pays 12 € in zone B.", chunk.text).agrees
    [both] = chunks_of({"text": "The fares:", "table": table})
    assert both.text == f"The fares:\n\n{FARES}"
    assert chunks_of({"text": both.text, "table": table}) == [both], "a table is not added twice"


def test_cells_cannot_break_the_table():
    assert table_text([["a|b", "c\nd"], [None, 2.5]]) == "| a\\|b | c d |\n|---|---|\n|  | 2.5 |"


def test_ragas_samples_with_images():
    rows = [{"user_input": "?", "retrieved_contexts": ["A text.", "charts/a.png", URI, "https://example.org/b.webp"]}]
    assert read_dataset(rows, "ragas")[0].contexts == [
        Chunk("A text."),
        Chunk("", image="charts/a.png"),
        Chunk("", image=URI),
        Chunk("", image="https://example.org/b.webp"),
    ]


PARTS = {
    "openai": {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
    "responses": {"type": "input_image", "image_url": "https://example.org/a.png"},
    "anthropic url": {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
    "opentelemetry uri": {"type": "uri", "modality": "image", "uri": "https://example.org/a.png"},
    "anthropic": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": RAW}},
    "gemini": {"inline_data": {"mime_type": "image/png", "data": RAW}},
    "opentelemetry": {"type": "blob", "modality": "image", "mime_type": "image/png", "content": RAW},
    "openinference": {"message_content": {"type": "image", "image": {"image": {"url": URI}}}},
}


@pytest.mark.parametrize("form", PARTS)
def test_chat_messages(form):
    asked = [{"type": "text", "text": "What does the chart say?"}, PARTS[form]]
    messages = [{"role": "user", "content": asked}, {"role": "assistant", "content": "It rises."}]
    sample = read_dataset([{"messages": messages}], "chat")[0]
    assert sample.question == "What does the chart say?"
    [chunk] = sample.contexts
    assert (chunk.text, chunk.image) == ("", "https://example.org/a.png" if "example" in str(PARTS[form]) else URI)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "text", "text": "image_url"},
        {"type": "blob", "modality": "audio", "mime_type": "audio/wav", "content": RAW},
        {"type": "blob", "mime_type": "application/pdf", "content": RAW},
        {"type": "input_audio", "input_audio": {"data": RAW}},
    ],
)
def test_other_parts_are_not_images(part):
    assert list(images_inside([{"role": "user", "content": [part]}])) == []


def test_images_of_tools_and_of_earlier_turns():
    result = {"role": "tool", "content": [{"type": "text", "text": "Found."}, PARTS["openai"]]}
    first = [{"role": "user", "content": "One?"}, result, {"role": "assistant", "content": "Yes."}]
    second = [{"role": "user", "content": "Two?"}, {"role": "assistant", "content": "No."}]
    one, two = read_dataset([{"messages": [*first, *second]}], "chat")
    assert one.contexts == [Chunk("Found."), Chunk("", image="https://example.org/a.png")]
    assert two.contexts is None


def test_spans(tmp_path):
    message = {"message.role": "user", "message.contents.0.message_content.type": "text"}
    message["message.contents.0.message_content.text"] = "What does it say?"
    message["message.contents.1.message_content.type"] = "image"
    message["message.contents.1.message_content.image.image.url"] = URI
    retriever = {
        "openinference.span.kind": "RETRIEVER",
        "retrieval.documents.0.document.content": "It rises.",
        "retrieval.documents.0.document.metadata": '{"source": "r.pdf", "page": 3, "page_label": "4"}',
        "retrieval.documents.1.document.id": "d2",
        "retrieval.documents.1.document.metadata": '{"image_path": "charts/a.png"}',
    }
    call = {"openinference.span.kind": "LLM", "output.value": "It rises."}
    call |= {f"llm.input_messages.0.{key}": value for key, value in message.items()}
    spans = [
        {"trace_id": "t", "span_id": str(at), "parent_id": "1" if at > 1 else None, "name": "x", "attributes": found}
        for at, found in enumerate((call, retriever), 1)
    ]
    path = tmp_path / "spans.jsonl"
    path.write_text("\n".join(map(json.dumps, spans)))
    assert read_dataset(str(path))[0].contexts == [
        Chunk("It rises.", source="r.pdf", page="4"),
        Chunk("", "d2", image="charts/a.png"),
        Chunk("", image=URI),
    ]


def test_documents_of_langchain():
    [chunk] = chunks_of({"page_content": "It rises.", "metadata": {"source": "r.pdf", "page": 3, "page_label": "4"}})
    assert (chunk.text, chunk.label) == ("It rises.", "r.pdf, p. 4")


@pytest.mark.parametrize("name", ["out.jsonl", "out.csv", "out.parquet"])
def test_written_and_read_without_loss(tmp_path, name):
    rows = [
        {
            "id": "a",
            "question": "?",
            "contexts": [
                {"text": "T", "id": "1", "source": "r.pdf", "page": "iv", "image": "a b.png", "score": 0.5},
                {"text": "", "image": URI},
                {"text": "", "image": "https://example.org/b.png?x=1"},
            ],
            "steps": [{"tool": "s", "contexts": [{"text": "", "image": "c.png", "page": "2"}]}],
        }
    ]
    reader = open_reader(rows)
    before = read_dataset(rows)
    write_dataset(reader.batches(), str(tmp_path / name))
    after = read_dataset(str(tmp_path / name))
    assert list(after) == list(before)
    assert after.fingerprint == before.fingerprint


def test_images_survive_ragas(tmp_path):
    rows = [{"question": "?", "contexts": [{"text": "", "image": URI}, {"text": "", "image": "a.png"}]}]
    write_dataset(open_reader(rows).batches(), str(tmp_path / "out.jsonl"), "ragas")
    assert read_dataset(str(tmp_path / "out.jsonl"))[0].contexts == read_dataset(rows)[0].contexts


def test_data_that_is_too_large_is_cut():
    [chunk] = chunks_of({"text": "a", "image": "data:image/png;base64," + "A" * 100_000_000})
    assert chunk.image.endswith("… (100,000,022 characters)")
    assert len(chunk.image) < 300
