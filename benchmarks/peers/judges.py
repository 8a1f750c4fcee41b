"""Other tools' calls to a judge: `python -m benchmarks.peers.judges TOOL URL ROWS AT_ONCE`, in their own environment.

Each scores rows by a metric that makes one call a row. Prints the seconds by the clock and of the CPU.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

_TEXT = "The harbour light stands on the eastern mole and was first lit in the autumn of 1871. " * 16


def ragas(url: str, rows: int, at_once: int) -> Callable[[], Any]:
    """AspectCritic: one verdict a row."""
    package: Any = import_module("ragas")
    metrics: Any = import_module("ragas.metrics")
    chat: Any = import_module("langchain_openai").ChatOpenAI(model="stub", base_url=url, api_key="none", max_retries=0)
    llm = import_module("ragas.llms").LangchainLLMWrapper(chat)
    critic = metrics.AspectCritic(name="fine", definition="Is the answer right?", llm=llm)
    samples = [{"user_input": f"{row}", "response": _TEXT} for row in range(rows)]
    data = package.EvaluationDataset.from_list(samples)
    config = import_module("ragas.run_config").RunConfig(max_workers=at_once)
    return lambda: package.evaluate(data, [critic], llm=llm, run_config=config, show_progress=False)


def deepeval(url: str, rows: int, at_once: int) -> Callable[[], Any]:
    """GEval with its steps given: one grade a row."""
    package: Any = import_module("deepeval")
    cases: Any = import_module("deepeval.test_case")
    configs: Any = import_module("deepeval.evaluate.configs")
    model = import_module("deepeval.models").GPTModel(
        model="gpt-4o-mini", base_url=url, api_key="none", cost_per_input_token=0.0, cost_per_output_token=0.0
    )
    parameters = [cases.LLMTestCaseParams.INPUT, cases.LLMTestCaseParams.ACTUAL_OUTPUT]
    steps = ["Is the answer right?"]
    judge = import_module("deepeval.metrics").GEval(
        name="fine", evaluation_steps=steps, evaluation_params=parameters, model=model
    )
    given = [cases.LLMTestCase(input=f"{row}", actual_output=_TEXT) for row in range(rows)]
    return lambda: package.evaluate(
        given,
        [judge],
        async_config=configs.AsyncConfig(max_concurrent=at_once, throttle_value=0),
        display_config=configs.DisplayConfig(show_indicator=False, print_results=False),
        cache_config=configs.CacheConfig(write_cache=False, use_cache=False),
    )


def main(tool: str, url: str, rows: str, at_once: str) -> None:
    """Prepare, then measure the work alone."""
    os.environ |= {"OPENAI_API_KEY": "none", "RAGAS_DO_NOT_TRACK": "true", "DEEPEVAL_TELEMETRY_OPT_OUT": "YES"}
    # deepeval leaves a folder behind wherever it runs.
    os.chdir(tempfile.mkdtemp())
    work = {"ragas": ragas, "deepeval": deepeval}[tool](url, int(rows), int(at_once))
    output, sys.stdout = sys.stdout, sys.stderr
    started, cpu = time.perf_counter(), time.process_time()
    work()
    found = {"seconds": time.perf_counter() - started, "cpu_seconds": time.process_time() - cpu}
    print(json.dumps(found), file=output)


if __name__ == "__main__":
    main(*sys.argv[1:])
