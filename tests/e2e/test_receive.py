"""An application exports spans with OpenTelemetry's SDK; the receiver is killed and started again; all traces are evaluated."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.e2e.conftest import COMMAND

pytestmark = pytest.mark.slow
APPLICATION = """
import sys
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
tracer = provider.get_tracer("app")
for number in range(5):
    question = {"openinference.span.kind": "CHAIN", "input.value": f"What does ticket {number} cost?"}
    with tracer.start_as_current_span("answer", attributes=question) as root:
        chunk = {"openinference.span.kind": "RETRIEVER", "retrieval.documents.0.document.content": f"It costs {number}."}
        with tracer.start_as_current_span("search", attributes=chunk):
            pass
        root.set_attribute("output.value", f"It costs {number}.")
provider.shutdown()
"""


def start_receiver(environment, home):
    command = [*COMMAND, "receive", "--to", "spool.jsonl", "--port", "0"]
    variables = {**environment, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, cwd=home, env=variables, stdout=subprocess.PIPE, text=True)
    return process, process.stdout.readline().split()[0].partition("=")[2]


def test_spans_of_an_application_are_evaluated(shell, environment, home):
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    for ending in (signal.SIGKILL, signal.SIGINT):
        receiver, url = start_receiver(environment, home)
        try:
            variables = {**os.environ, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": url}
            subprocess.run([sys.executable, "-c", APPLICATION], env=variables, check=True, timeout=60)
        finally:
            receiver.send_signal(ending)
            receiver.wait(20)
            receiver.stdout.close()
    done = shell("run", "spool.jsonl", "-m", "k_precision", "--json")
    assert done.returncode == 0, done.stderr
    [row] = [one for one in json.loads(done.stdout)["summary"] if one["metric"] == "k_precision"]
    assert (row["mean"], row["n_ok"]) == (1.0, 10)
