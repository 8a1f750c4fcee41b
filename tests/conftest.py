"""Settings for all tests, and what several folders of them share."""

import functools
import gc
import json
import os
import signal
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import settings

from ragstone.engine import code_revision
from ragstone.models.store import Store, default_folder
from ragstone.registry import CATALOGUE
from tests.browser import browser, pytest_terminal_summary  # noqa: F401  (a fixture and a hook)

# A busy machine must not fail a test that is right, nor make everybody wait. `make test-slow` tries more examples.
settings.register_profile("quick", deadline=None, max_examples=20)
settings.register_profile("thorough", deadline=None, max_examples=50)
settings.load_profile("quick")

# No model that nobody named, also where a fixture lives longer than a test: it takes time, and its figures may change.
# Where `make test` keeps models is remembered for those who ask, and for the processes that xdist starts.
MODELS = Path(os.environ.setdefault("RAGSTONE_TESTS_MODELS", str(default_folder())))
os.environ["RAGSTONE_MODELS"] = os.path.join(tempfile.gettempdir(), "ragstone-no-models")
os.environ["RAGSTONE_LOCAL_JUDGE"] = "off"
# Tests of the local judge mean the small one; a test of the large one switches it on.
os.environ["RAGSTONE_LARGE_JUDGE"] = "off"
# Most judges of the tests know only the tests' own world, and many tests count calls.
os.environ["RAGSTONE_EXAM"] = "off"

# A shell that runs tests in the background tells them to ignore Ctrl-C, and some tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_OURS = (
    *("AWS_", "RAGSTONE_ROOT", "RAGSTONE_DEBUG", "RAGSTONE_CACHE", "RAGSTONE_PRICES", "RAGSTONE_MODELS", "NO_COLOR"),
    *("FORCE_COLOR", "COLUMNS", "OPENAI_", "AZURE_", "DIAL_", "OLLAMA_", "VLLM_", "LLAMACPP_", "LITELLM_"),
    *("GITHUB_", "CI_", "RAGSTONE_GITLAB_TOKEN"),
)


def pytest_collection_finish():
    """The collected tests stay to the end: the garbage collector need not look at a million objects again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def one_call_of_git():
    """Asks git about this repository once: in a fresh clone it reads every file, and thousands of runs would ask."""
    ask, here = code_revision._ask_git, Path().absolute()
    ask_here = functools.cache(ask)
    code_revision._ask_git = lambda: dict(ask_here()) if here.samefile(".") else ask()
    yield
    code_revision._ask_git = ask


@pytest.fixture(autouse=True, scope="session")
def no_waiting_for_the_disk():
    """No test cuts the power: waiting until the disk has written each of thousands of files takes a minute."""
    sync = os.fsync
    os.fsync = lambda _: None
    yield
    os.fsync = sync


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch, tmp_path_factory):
    """What the developer's own shell is set to must not decide a test, nor may a test fill the developer's cache."""
    for name in os.environ:
        if name.startswith(_OURS):
            monkeypatch.delenv(name)
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path_factory.getbasetemp() / "replies"))
    # Has what the local judge computed in other tests, which saves time.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
    # No local model, unless a test asks for one: which models a developer has must not decide a test.
    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path_factory.getbasetemp() / "no-models"))
    monkeypatch.setenv("RAGSTONE_LOCAL_JUDGE", "off")
    monkeypatch.setenv("RAGSTONE_LARGE_JUDGE", "off")


@pytest.fixture
def models(monkeypatch):
    """The developer's own models."""
    monkeypatch.setenv("RAGSTONE_MODELS", str(MODELS))
    return Store()


@pytest.fixture
def minilm(models):
    """The embedding model; tests that need it are skipped where it is not there."""
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install 'ragstone[local]'")
    found = models.find("minilm")
    if found is None:
        pytest.skip("the model is not there: ragstone models pull minilm")
    return found


@pytest.fixture
def catalogue():
    """The catalogue of metrics; what a test registers is forgotten after it, the shipped metrics are not."""
    import_module("ragstone.metrics")
    metrics, evidence, modules = dict(CATALOGUE._metrics), dict(CATALOGUE._evidence), set(sys.modules)
    yield CATALOGUE
    CATALOGUE._metrics, CATALOGUE._evidence = metrics, evidence
    for name in set(sys.modules) - modules:
        if name.startswith("ragstone_user_"):
            del sys.modules[name]


class Bucket:
    """An empty bucket on a server of our own."""

    def __init__(self, client, name):
        self.client = client
        self.name = name
        self.url = f"s3://{name}"

    def list(self):
        """The keys of all objects, without the empty ones by which Arrow marks folders."""
        found = self.client.list_objects_v2(Bucket=self.name).get("Contents", [])
        return [item["Key"] for item in found if not item["Key"].endswith("/")]

    def read(self, key):
        return self.client.get_object(Bucket=self.name, Key=key)["Body"].read()

    def write(self, key, content):
        self.client.put_object(Bucket=self.name, Key=key, Body=content)
        return f"{self.url}/{key}"


@pytest.fixture(scope="session")
def s3_server():
    """The address of a real server on this machine that speaks S3."""
    import logging

    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()


@pytest.fixture
def bucket(s3_server, monkeypatch, request):
    """A bucket, and an environment in which `s3://` means our server."""
    import hashlib

    import boto3

    settings = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_DEFAULT_REGION": "us-east-1"}
    for name, value in {**settings, "AWS_ENDPOINT_URL": s3_server}.items():
        monkeypatch.setenv(name, value)
    client = boto3.client("s3", endpoint_url=s3_server)
    name = f"b-{hashlib.blake2b(request.node.nodeid.encode(), digest_size=10).hexdigest()}"
    client.create_bucket(Bucket=name)
    yield Bucket(client, name)
    client.close()


class Printed(NamedTuple):
    """What a command left: its exit code and what it printed."""

    code: int
    out: str
    err: str


@pytest.fixture
def cli(catalogue, capsys, monkeypatch):
    """The command line in this process, for speed. Every JSON that it prints is checked against its published schema."""
    from ragstone.cli import main, output
    from tests.json_schemas import check_json, command_of_context

    printed, write_json = [], output.to_json

    def to_json(value):
        text = write_json(value)
        printed.append((command_of_context(), text))
        return text

    monkeypatch.setattr(output, "to_json", to_json)

    def run(*arguments):
        capsys.readouterr()
        printed.clear()
        monkeypatch.setattr(sys, "argv", ["ragstone", *map(str, arguments)])
        try:
            main()
        except SystemExit as left:
            code = left.code
        else:
            code = 0
        for command, text in printed:
            if command is not None:
                check_json(command, json.loads(text))
        return Printed(code or 0, *capsys.readouterr())

    return run
