"""Where the public data lies that is not ours to ship."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder() -> Path:
    """The folder that RAGSTONE_DATA names, by default ../shared/data beside the repository."""
    return Path(os.environ.get("RAGSTONE_DATA", Path(__file__).parents[1].parent / "shared" / "data"))
