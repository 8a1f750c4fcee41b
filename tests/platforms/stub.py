"""An API that returns prepared answers and keeps what was asked."""

import asyncio

from ragstone.platforms.api import Answer, Connection
from ragstone.platforms.protocol import PlatformScore


class StubApi:
    def __init__(self, *answers, project="ferries"):
        self.connection = Connection("Tool", "https://tool.example/api/v1", {}, ("KEY",), "URL", project)
        self.traits = set()
        self.asked = []
        self._answers = list(answers)

    async def call(self, method, path, params=None, body=None, expects=()):
        self.asked.append((method, path, body))
        status, data = self._answers.pop(0)
        assert status < 300 or status in expects
        return Answer(status, data)


def score(trace="a" * 32, metric="faithfulness", value=0.5, judged=True, **metadata):
    return PlatformScore(trace, metric, value, "why", judged, {"run": "r"}, metadata)


def run(awaitable):
    return asyncio.run(awaitable)
