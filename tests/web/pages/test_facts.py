"""The fact page of a sample."""

from ragstone.analysis.sample_evidence import read_case


def test_facts_that_are_not_there_show_the_nearest_miss(viewer, worse):
    missed = 0
    for row in range(1, 26):
        found = viewer.json(f"/runs/{worse.id}/samples/{row}/facts.json")
        sample = read_case(worse, row - 1).sample
        for fact in found["facts"]:
            assert bool(fact["places"]) == bool(fact["ranks"])
            for place in fact["places"]:
                assert sample.contexts[place["rank"] - 1].text[place["start"] : place["end"]] == place["here"]
            if miss := fact["miss"]:
                missed += 1
                assert fact["ranks"] == []
                assert fact["cause"]
                assert "".join(piece["text"] for piece in miss["diff"] if piece["kind"] != "new") == fact["text"]
                assert sample.contexts[miss["rank"] - 1].text[miss["start"] : miss["end"]] == miss["here"]
    assert missed > 3
    assert "Nearest miss" in viewer.page(f"/runs/{worse.id}/samples/8/facts").text()
