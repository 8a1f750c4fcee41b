"""Chunks that help and chunks that hurt, for a generator whose behaviour is known."""

import pytest

from ragstone.stress.erag import as_dict, blamed_chunks, by_chunk, by_rank, keep_erag, read_erag


def test_blame(erag):
    helps = {(label.question, label.rank): label.helps for label in erag.labels}
    assert helps["Maren", 1] == 1.0  # nobody else knows it
    assert helps["Maren", 2] == 0.0
    assert helps["Heron", 1] == 0.0  # nothing to lose
    assert helps["Pelican", 1] == -1.0  # the gossip was believed
    assert helps["Pelican", 3] == 0.0  # and the truth not read
    assert helps["Osprey", 1] == 1.0
    assert helps["Osprey", 2] == 0.0
    assert {(label.question, label.chunk) for label in blamed_chunks(erag.labels, 10)[0]} == {
        ("Pelican", "gossip"),
        ("Gannet", "gossip"),
    }
    assert {label.question for label in blamed_chunks(erag.labels, 10)[1]} == {"Maren", "Corvina", "Thistle", "Osprey"}
    [gossip] = [share for share in by_chunk(erag.labels) if share.name == "gossip"]
    assert (gossip.chunks, gossip.helps) == (3, pytest.approx(-2 / 3))
    first = by_rank(erag.labels)[0]
    assert (first.name, first.chunks, first.alone) == ("rank 1", 7, pytest.approx(2 / 7))


def test_it_is_kept_and_read_again(erag):
    keep_erag(erag)
    again = read_erag(erag.run)
    assert again.labels == erag.labels
    assert as_dict(again)["agreements"] == as_dict(erag)["agreements"]
    assert again.pieces.id == erag.pieces.id
    assert read_erag(erag.pieces) is None
