"""Servers with real runs and ground truth on free ports. No test changes the runs."""

import http.client
import json
import threading
import time
from urllib.parse import urlencode

import pytest

from ragstone.web.app import Viewer
from tests.report import runs
from tests.report.pages import Page
from tests.web.made_runs import unsure_run


class Client:
    """Asks a viewer as a browser would, one connection per request."""

    def __init__(self, viewer):
        self.viewer = viewer
        self.origin = f"http://127.0.0.1:{viewer.port}"

    def ask(self, path, method="GET", body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.viewer.port, timeout=30)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, headers=named)
            answer = connection.getresponse()
            return answer, answer.read()
        finally:
            connection.close()

    def json(self, path, status=200):
        answer, body = self.ask(path)
        assert answer.status == status, body
        assert answer.headers["content-type"] == "application/json"
        return json.loads(body)

    def page(self, path, status=200):
        answer, body = self.ask(path)
        assert answer.status == status, body
        assert answer.headers["content-type"].startswith("text/html")
        return Page(body.decode())

    def secret(self, path):
        """Return the token that a page sends with a change."""
        return next(field["value"] for field in self.page(path).find("input") if field.get("name") == "token")

    def post(self, path, fields, **headers):
        """Send a form as one of our own pages would."""
        said = {"content_type": "application/x-www-form-urlencoded", "origin": self.origin} | headers
        return self.ask(path, "POST", urlencode(fields), **{name: text for name, text in said.items() if text})

    def when_ready(self, path, there):
        """The twin of a page once what it waits for is there."""
        for _ in range(200):
            found = self.json(path)
            if there(found):
                return found
            time.sleep(0.05)
        raise AssertionError(f"{path} never became ready")

    def ready(self, run, query=""):
        """The data of a run once its diagnosis is there."""
        return self.when_ready(f"/runs/{run.id}.json{query}", lambda found: found["diagnosis"] is not None)


@pytest.fixture(scope="session")
def serve():
    """Start a viewer over a root; all are stopped at the end."""
    started = []

    def start(root, **settings):
        viewer = Viewer(str(root), port=0, **settings)
        thread = threading.Thread(target=viewer.serve, daemon=True)
        thread.start()
        started.append((viewer, thread))
        return Client(viewer)

    yield start
    for viewer, _ in started:
        viewer.stop()
    for _, thread in started:
        thread.join(timeout=10)


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("viewed")


@pytest.fixture(scope="session")
def worse(store):
    return runs.harbour("worse", store)


@pytest.fixture(scope="session")
def better(store, worse):
    return runs.harbour("better", store)


@pytest.fixture(scope="session")
def hostile(store):
    return runs.hostile(store)


@pytest.fixture(scope="session")
def viewer(serve, store, worse, better, hostile):
    return serve(store)


@pytest.fixture(scope="session")
def unsure(serve, tmp_path_factory):
    """A viewer over a run of 14 rows with unsure verdicts, and the run."""
    root = tmp_path_factory.mktemp("unsure")
    run = unsure_run(root)
    return serve(root), run
