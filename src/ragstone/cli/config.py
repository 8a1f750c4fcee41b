"""ragstone.toml: defaults for the options of every command."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from ragstone.cli.options import SHARED, parse_map, split_kind
from ragstone.cli.output import noting
from ragstone.errors import RagstoneError, StorageError, UnknownNameError, UsageError
from ragstone.tools.model_options import Option

if TYPE_CHECKING:
    from ragstone.analysis.acceptance import Criterion

FILE = "ragstone.toml"
VARIABLE = "RAGSTONE_CONFIG"
# `ragstone gate` reads these keys itself: its conditions are tables of metrics and numbers.
_READ_BY_COMMAND = {
    "gate": frozenset({"min", "max", "max_drop", "max_rise", "max_worse", "max_new_failures", "against", "baseline"})
}
ACCEPT = "accept"
# The folder of labels, for every command; the variable that `storage` reads.
_LABELS, _LABELS_VARIABLE = "label_folder", "RAGSTONE_LABELS"
_READING = ("format", "map", "split_contexts", "encoding")
_PATHS = ("FILE", "FOLDER", "ROOT", "PATH", "TARGET")
_KINDS: dict[Any, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


class Config(NamedTuple):
    """A settings file: its path, its content, and whether the user named it."""

    path: Path
    table: dict[str, Any]
    is_named: bool


def run_with_config(path: str, command: Callable[..., None], values: dict[str, Any]) -> None:
    """Calls the function of a command; an error about a mapping of the settings file says where the mapping is from."""
    named = values.pop("config")
    origin = _origin_of_map(named, path)
    data = values.get("data") or [name for name in [values.get("reference")] if name and os.path.isfile(name)]
    if origin and data and "-" not in data and (unused := _unused_pairs(data, values["map"])):
        noting(bool(values.get("quiet")))(
            f"{', '.join(unused)} of {origin} is not used: {', '.join(data)} has no such column"
        )
        values["map"] = [pair for pair in values["map"] if pair not in unused]
    try:
        with _labels_folder(find_config(named)):
            command(**values)
    except UsageError as error:
        mapped = {part for pair in values.get("map") or () for part in pair.split("=", 1)}
        is_named = isinstance(error, UnknownNameError) and error.name in mapped
        if origin and mapped and ("--map" in str(error) or is_named):
            error.args = (f"{error} The mapping is from {origin}.",)
        raise


@contextmanager
def _labels_folder(config: Config | None) -> Iterator[None]:
    """Names the folder of labels in the environment while a command runs, so that its workers use it too."""
    folder = next((one for key, one in (config.table if config else {}).items() if _key(key) == _LABELS), None)
    if not config or folder is None or os.environ.get(_LABELS_VARIABLE):
        yield
        return
    os.environ[_LABELS_VARIABLE] = folder if "://" in folder else str(config.path.resolve().parent / folder)
    try:
        yield
    finally:
        del os.environ[_LABELS_VARIABLE]


def _origin_of_map(named: str | None, path: str) -> str | None:
    """Where the settings file has the mapping of this command; None if the mapping is not from there."""
    source = click.get_current_context().get_parameter_source("map")
    if source is not ParameterSource.DEFAULT_MAP or (config := find_config(named)) is None:
        return None
    title = next((title for title, table in reversed(_sections(config, path).items()) if "map" in table), "")
    return f"{title + 'map' if title else '[map]'} in {config.path}"


def _unused_pairs(data: list[str], pairs: list[str]) -> list[str]:
    """The parts of a mapping whose columns are in no file; all of them if the files have none of its columns."""
    from ragstone.formats.column_map import absent_columns, check_map
    from ragstone.formats.sources import Source

    try:
        sources = [Source(path, check_map(parse_map(pairs))) for path in data]
        absent = set.intersection(*({*absent_columns(one).values()} for one in sources))
    except RagstoneError:  # the command reports it
        return []
    is_whole = absent == {*sources[0].renames.values()}
    return [pair for pair in pairs if absent and (is_whole or pair.partition("=")[0] in absent)]


def find_config(named: str | None = None) -> Config | None:
    """The named file, or ragstone.toml of this folder or of the nearest parent folder that has one."""
    named = named or os.environ.get(VARIABLE) or None
    path = Path(named) if named else next((one for one in _candidates() if one.is_file()), None)
    return None if path is None else Config(path, _read(path), named is not None)


def find_criteria(config: Config | None) -> list[Criterion]:
    """The acceptance criteria of a settings file."""
    if config is None or ACCEPT not in config.table:
        return []
    from ragstone.analysis.acceptance import read_criteria

    return read_criteria(config.table[ACCEPT], str(config.path))


def _candidates() -> Iterator[Path]:
    """A file of another user in a parent folder is ignored: it could name code to run."""
    yield Path(FILE)
    for folder in Path.cwd().parents:
        path = folder / FILE
        if path.is_file() and (not hasattr(os, "getuid") or path.stat().st_uid == os.getuid()):
            yield path


def _read(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not a TOML file: {error}") from error


def apply_config(path: str, ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Callback of `--config`: checks the file and makes it the defaults of the command."""
    del param
    config = None if ctx.resilient_parsing else find_config(value)
    if config is not None:
        _check(config, ctx.find_root().command)
        options = _options(ctx.command)
        skipped = _READ_BY_COMMAND.get(path, frozenset())
        ctx.default_map = {}
        for title, table in {"": config.table, **_sections(config, path)}.items():
            for key, setting in table.items():
                if _key(key) in options.keys() - skipped and not (title == "" and _is_section(key, setting)):
                    option = options[_key(key)]
                    where = f"{config.path}: {title}{key}"
                    ctx.default_map[str(option.name)] = _convert(option.declared, setting, where, config.path)
    return value


def _sections(config: Config, path: str) -> dict[str, dict[str, Any]]:
    """The sections of a command by title, the last one decides: `validate` and `convert` read data as `run` does."""
    section: Any = config.table
    for name in path.split():
        section = section.get(name, {})
    of_run = config.table.get("run", {}) if path in ("validate", "convert") else {}
    return {_title("run"): {key: of_run[key] for key in of_run if _key(key) in _READING}, _title(path): dict(section)}


def _options(command: click.Command) -> dict[str, Any]:
    """The options of a command by the keys of the file."""
    params = [param for param in command.params if isinstance(param, click.Option) and param.name != "config"]
    return {_key(flag): param for param in params for flag in param.opts if flag.startswith("--")}


def _check(config: Config, group: Any) -> None:
    """Raises a UsageError for an unknown section or key, or for a value of the wrong type."""
    common = {_key(flag): item for item in SHARED.values() for flag in item.flags.split() if flag.startswith("--")}
    for key, value in config.table.items():
        if key == ACCEPT:
            continue  # `gate` and `run` read it
        if _key(key) == _LABELS:
            if not isinstance(value, str) or not value:
                raise UsageError(f"{config.path}: {key} must be the name of a folder, got {value!r}")
            continue
        if _is_section(key, value) and key in group.commands:
            _check_section(config, group.commands[key], key, value)
        elif _key(key) not in common or (isinstance(value, Mapping) and _key(key) != "map"):
            known = [*group.commands, *(name.replace("_", "-") for name in common)]
            raise UnknownNameError(f"section or key in {config.path}:", key, known, "docs/config.md lists them.")
        else:
            _convert(common[_key(key)], value, f"{config.path}: {key}", config.path)


def _check_section(config: Config, command: Any, path: str, table: Mapping[str, Any]) -> None:
    if hasattr(command, "commands"):
        for name, inner in table.items():
            if name not in command.commands or not isinstance(inner, Mapping):
                raise UnknownNameError(f"section in {config.path}: {path}", name, command.commands)
            _check_section(config, command.commands[name], f"{path} {name}", inner)
        return
    title, options = _title(path), _options(command)
    for key, value in table.items():
        if _key(key) not in options:
            known = [name.replace("_", "-") for name in options]
            where = f"key of {title.strip()} in {config.path}:"
            raise UnknownNameError(where, key, known, f"Keys: {', '.join(known)}.")
        if _key(key) not in _READ_BY_COMMAND.get(path, frozenset()):
            _convert(options[_key(key)].declared, value, f"{config.path}: {title}{key}", config.path)


def _convert(option: Option, value: Any, where: str, path: Path) -> Any:
    """The value as the option takes it; a wrong type or range is a UsageError that names the file and the key."""
    kind, is_list = split_kind(option.kind)
    # An option that takes NAME=VALUE may be a table.
    if isinstance(value, Mapping) and is_list and "=" in (option.metavar or ""):
        is_map = option.flags == "--map"
        if wrong := [name for name, text in value.items() if is_map and not isinstance(text, str)]:
            raise UsageError(f"{where}: {wrong[0]} must be the name of a column, got {value[wrong[0]]!r}")
        value = [f"{name}={text}" for name, text in value.items()]
    given = value if isinstance(value, list) and is_list else [value]
    values = [_check_value(option, kind, one, where) for one in given]
    # A relative path of a settings file in another folder is relative to that folder.
    folder = path.resolve().parent
    if kind is str and (option.metavar or "").startswith(_PATHS) and folder != Path.cwd():
        values = [one if "://" in one or one == "-" else str(folder / one) for one in values]
    return values if is_list else values[0]


def _check_value(option: Option, kind: Any, value: Any, where: str) -> Any:
    accepted = (int, float) if kind is float else kind
    if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
        raise UsageError(f"{where} must be {_KINDS[kind]}, got {value!r}")
    low, high = option.min, option.max
    if (low is not None and value < low) or (high is not None and value > high):
        limits = [f"at least {low}"] * (low is not None) + [f"at most {high}"] * (high is not None)
        raise UsageError(f"{where} must be {' and '.join(limits)}, got {value!r}")
    return value


def _is_section(key: str, value: Any) -> bool:
    return isinstance(value, Mapping) and key != "map"


def _key(text: str) -> str:
    return text.removeprefix("--").replace("-", "_")


def _title(path: str) -> str:
    return f"[{path.replace(' ', '.')}] "
