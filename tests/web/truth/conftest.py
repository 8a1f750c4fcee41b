"""Ground truth that several test modules share. Tests that change it make their own."""

from dataclasses import replace

import pytest

from ragstone.truth.model import TruthFact, case_from_sample
from tests.report import runs
from tests.report.runs import EVIL
from tests.web import truths


@pytest.fixture(scope="session")
def root(tmp_path_factory):
    found = tmp_path_factory.mktemp("truths")
    truths.save(found, "ferry", truths.ferry())
    changed = truths.ferry()
    changed[0] = replace(
        changed[0], question="When does the last boat leave Orlsay?", references=["At 21:40.", "18:10."]
    )
    changed[1] = replace(changed[1], facts=[*changed[1].facts[1:], TruthFact("Children under 12 pay")])
    truths.save(found, "ferry", [*changed[:2], replace(changed[2], id="f4")], "Grace", "ask about winter", 1)
    truths.save(found, "hostile", truths.hostile(), EVIL, EVIL)
    truths.save(found, "many", truths.many(10_500))
    return found


@pytest.fixture(scope="session")
def client(serve, root):
    return serve(root)


class Untouched:
    """Ground truth that every attempt must leave as it is."""

    def __init__(self, root, client):
        self.root, self.client = root, client
        self.secret = client.secret("/truth/ferry")

    def post(self, path, fields, **headers):
        answer, body = self.client.post(path, fields, **headers)
        assert truths.read(self.root).info.number == 1
        return answer, body


@pytest.fixture(scope="session")
def untouched(serve, tmp_path_factory):
    root = tmp_path_factory.mktemp("untouched")
    truths.save(root, "ferry", truths.ferry())
    return Untouched(root, serve(root))


@pytest.fixture(scope="session")
def harbour_root(tmp_path_factory):
    return tmp_path_factory.mktemp("rescored")


@pytest.fixture(scope="session")
def scored(harbour_root):
    return runs.harbour("worse", harbour_root)


@pytest.fixture(scope="session")
def harbour(serve, harbour_root, scored):
    """Two versions: in the second no case has a fact that stands anywhere, and one question reads otherwise."""
    cases = [case_from_sample(sample) for sample in scored.samples]
    truths.save(harbour_root, "harbour", cases)
    changed = [replace(case, facts=[TruthFact("whales are fish of the moon")]) for case in cases]
    changed[0] = replace(changed[0], question="Otherwise?")
    truths.save(harbour_root, "harbour", changed, "Grace", "", 1)
    truths.save(harbour_root, "unlike", truths.ferry())
    return serve(harbour_root)
