"""Passages of documents."""

from ragstone.formats.documents.base import Document, Section, make_passages


def test_passages_stay_within_their_section():
    document = Document("a.md", [Section("One two. Three four.", heading="Top"), Section("Five.", page=2), Section("")])
    passages = make_passages(document, most_words=2)
    assert [passage.text for passage in passages] == ["One two.", "Three four.", "Five."]
    assert [passage.id for passage in passages] == ["a.md#1", "a.md#2", "a.md#3"]
    assert [passage.section for passage in passages] == ["Top", "Top", "page 2"]
