"""Which fact stands in which chunk."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.errors import UnknownNameError
from ragstone.text.matchers import MATCHERS, FactSpan, make_matcher

small = st.lists(st.text("aB .9", max_size=6), max_size=4)


@pytest.mark.parametrize("name", MATCHERS)
def test_every_matcher_answers_to_its_name_and_signs_with_it(name):
    matcher = make_matcher(name)
    assert matcher.name == name
    assert matcher.signature.startswith(f"{name}/")


def test_an_unknown_matcher():
    message = r"^unknown fact matcher 'citaton'\. Did you mean citation\? Choose from: exact, citation, fuzzy\.$"
    with pytest.raises(UnknownNameError, match=message):
        make_matcher("citaton")


def test_exact_is_the_whole_chunk():
    matcher = make_matcher("exact")
    assert list(matcher.find(["A b", "A"], ["A b", "a b", "A b "])) == [FactSpan(0, 0, 0, 3, 1.0)]


def test_citation_finds_facts_chunk_by_chunk():
    chunks = ["The port opens at 9.", "It opens at nine.", "OPENS — at 9; opens at 9"]
    facts = ["opens at 9", "port"]
    assert list(make_matcher("citation").find(facts, chunks)) == [
        FactSpan(0, 0, 9, 19, 1.0),
        FactSpan(1, 0, 4, 8, 1.0),
        FactSpan(0, 2, 0, 12, 1.0),
        FactSpan(0, 2, 14, 24, 1.0),
    ]


def test_a_fact_split_over_two_chunks_is_in_neither():
    assert not list(make_matcher("citation").find(["one two"], ["zero one", "two three"]))


@pytest.mark.parametrize("name", MATCHERS)
@given(facts=small, chunks=small)
def test_places_are_inside_their_chunk(name, facts, chunks):
    for place in make_matcher(name).find(facts, chunks):
        assert 0 <= place.start <= place.end <= len(chunks[place.chunk])
        assert place.fact in range(len(facts))
        assert 0 <= place.confidence <= 1


@given(facts=small, chunks=small)
def test_what_is_exact_is_also_a_citation_if_it_has_words(facts, chunks):
    exact = {
        place[:2] for place in make_matcher("exact").find(facts, chunks) if any(map(str.isalnum, facts[place.fact]))
    }
    assert exact <= {place[:2] for place in make_matcher("citation").find(facts, chunks)}


@pytest.mark.parametrize(
    ("chunk", "found"),
    [
        ("The vessel was re-\nfitted in 2019 at the Oslo yard.", "The vessel was re-\nfitted in 2019 at the Oslo yard"),
        ("the vesel was refitted in 2019 at the Oslo yard, it says", "the vesel was refitted in 2019 at the Oslo yard"),
        (
            "| vessel | The vessel was refit ted in 2019 at the Oslo yard | 12 |",
            "The vessel was refit ted in 2019 at the Oslo yard",
        ),
        ("The vessel was refitted in 2018 at the Oslo yard.", None),
        ("The vessel was not refitted in 2019 at the Oslo yard.", None),
        ("The vessel wasn't refitted in 2019 at the Oslo yard.", None),
        ("The vessel was refitted in 2019.", None),
        ("Something else altogether happened in 2019 at the yard.", None),
        ("", None),
    ],
)
def test_fuzzy(chunk, found):
    places = list(make_matcher("fuzzy").find(["The vessel was refitted in 2019 at the Oslo yard."], [chunk]))
    assert [chunk[place.start : place.end] for place in places] == ([found] if found else [])


def test_fuzzy_gives_a_citation_in_full_and_noise_less():
    fact, chunk = "one two three four five six seven", "one two three four five six seven"
    assert [place.confidence for place in make_matcher("fuzzy").find([fact], [chunk])] == [1.0]
    noisy = list(make_matcher("fuzzy").find([fact], ["one two thre four five six seven"]))
    assert len(noisy) == 1
    assert 0.9 <= noisy[0].confidence < 1


@given(st.text(max_size=40), st.text(max_size=120))
def test_fuzzy_finds_at_least_what_citation_finds(fact, chunk):
    citations = set(make_matcher("citation").find([fact], [chunk]))
    assert citations <= set(make_matcher("fuzzy").find([fact], [chunk]))
