"""Runs a command and says what it took. Started as a process of its own, by path.

The kernel counts the memory of the process that starts a command into the peak of the command, so whoever
measures must be small: this file imports next to nothing and has no other children.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

started = time.perf_counter()
child = subprocess.run(sys.argv[1:], capture_output=True, text=True, check=False)
seconds = time.perf_counter() - started
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
json.dump(
    {
        "code": child.returncode,
        "output": child.stdout,
        "errors": child.stderr,
        "seconds": seconds,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
    },
    sys.stdout,
)
