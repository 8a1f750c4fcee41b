"""The state of the table of pairs in the address."""

from ragstone.web.pair_index import PairState


def test_the_state_is_read_from_its_address():
    state = PairState("word", "misread", "no fault", "fixed", "kind=a", "recall", "worse", "gains", 3, 50)
    query = dict(part.split("=", 1) for part in state.address[1:].split("&"))
    read = {name: value.replace("+", " ").replace("%3D", "=") for name, value in query.items()}
    assert PairState.read(read, ["recall"]) == state


def test_invalid_values_become_defaults():
    query = {"metric": "none", "change": "x", "sort": "y", "page": "-1", "size": "7"}
    assert PairState.read(query, ["recall"]) == PairState()
    assert PairState().address == ""


def test_a_change_starts_at_the_first_page():
    assert PairState(page=4).but(query="a").page == 1
