"""Where public data lies that is not ours to ship; tests that need it skip where it is not."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def shared_data(name: str) -> Path:
    """The file or folder of that name under RAGSTONE_DATA, by default ../shared/data beside the repository."""
    path = Path(os.environ.get("RAGSTONE_DATA", ROOT.parent / "shared" / "data")) / name
    if not path.exists():
        pytest.skip(
            f"{path} is not there; RAGSTONE_DATA names the folder with the public data", allow_module_level=True
        )
    return path
