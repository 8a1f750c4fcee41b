"""ragstone.toml: defaults for the options of every command."""

from __future__ import annotations

import functools
import inspect
import os
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin

import typer
from typer.models import OptionInfo

from ragstone.cli.options import EXECUTION, SHARED, option, parse_map
from ragstone.errors import RagstoneError, StorageError, UnknownNameError, UsageError

FILE = "ragstone.toml"
VARIABLE = "RAGSTONE_CONFIG"
# `ragstone gate` reads these keys itself: its conditions are tables of metrics and numbers.
_READ_BY_COMMAND = {"gate": frozenset({"min", "max", "max_drop", "max_rise", "max_worse", "against", "baseline"})}
_PATHS = ("FILE", "FOLDER", "ROOT", "PATH", "TARGET")
_KINDS: dict[Any, str] = {bool: "true or false", int: "a whole number", (int, float): "a number", str: "a text"}


class Config(NamedTuple):
    """A settings file: its path, its content, and whether the user named it."""

    path: Path
    table: dict[str, Any]
    is_named: bool


class Option(NamedTuple):
    """An option of a command, as the settings file sees it."""

    parameter: str
    kind: Any
    is_list: bool
    info: OptionInfo

    @property
    def takes_pairs(self) -> bool:
        """Whether its values are NAME=VALUE; the file may have a table instead."""
        return self.is_list and "=" in (self.info.metavar or "")


# The options of every loaded command by the keys of the file: {"truth collect": {"system_version": Option(...)}}.
_COMMANDS: dict[str, dict[str, Option]] = {}


def reads_config(name: str, command: Callable[..., None]) -> Callable[..., None]:
    """The command with `--config`, whose other options take their defaults from the settings file."""
    parameters = list(inspect.signature(command, eval_str=True).parameters.values())
    _COMMANDS[name] = {
        _key(flag): _describe(parameter)
        for parameter in parameters
        if isinstance(parameter.default, OptionInfo)
        for flag in (parameter.default.param_decls or ())
        if flag.startswith("--")
    }

    @functools.wraps(command)
    def wrapper(**values: Any) -> None:
        named = values.pop("config")
        if values.get("map") and values.get("data") and _skips_map(named, name.split(), values):
            values["map"] = []
        try:
            command(**values)
        except UsageError as error:
            _name_origin(error, named, name.split(), values.get("map") or [])
            raise

    text = f"Settings file; the nearest {FILE} by default."
    more: dict[str, Any] = {"metavar": "FILE", "envvar": VARIABLE, "is_eager": True, "callback": _apply}
    config = option(None, "--config", text, EXECUTION, **more)
    kind = inspect.Parameter.KEYWORD_ONLY
    added = inspect.Parameter("config", kind, default=config, annotation=str | None)
    everything = [*(parameter.replace(kind=kind) for parameter in parameters), added]
    wrapper.__signature__ = inspect.Signature(everything)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in everything}
    return wrapper


def _name_origin(error: UsageError, named: str | None, names: list[str], pairs: list[str]) -> None:
    """Adds to an error about `--map` that the mapping is from the settings file, if it is."""
    mapped = {part for pair in pairs for part in pair.split("=", 1)}
    if "--map" not in str(error) and not (isinstance(error, UnknownNameError) and error.name in mapped):
        return
    if origin := _origin_of_map(named, names, pairs):
        error.args = (f"{error} The mapping is from {origin}.",)


def _origin_of_map(named: str | None, names: list[str], pairs: list[str]) -> str | None:
    """Where the settings file has this mapping; None if it is from the command line."""
    config = find_config(named)
    if config is None or not pairs or _defaults(config, names).get("map") != pairs:
        return None
    section: Any = config.table
    for step in names:
        section = section.get(step, {})
    return f"{f'{_title(names)}map' if 'map' in section else '[map]'} in {config.path}"


def _skips_map(named: str | None, names: list[str], values: Mapping[str, Any]) -> bool:
    """Whether the mapping is from the settings file, and the data has our own names instead; with a note."""
    pairs, data = values["map"], values["data"]
    origin = None if "-" in data else _origin_of_map(named, names, pairs)
    if origin is None:
        return False
    from ragstone.cli.screen import noting
    from ragstone.formats.column_map import needs_no_map
    from ragstone.formats.sources import Source

    try:
        if not all(needs_no_map(Source(path), parse_map(pairs)) for path in data):
            return False
    except RagstoneError:  # the command reports it
        return False
    note = noting(bool(values.get("quiet")))
    note(f"{origin} is not used: {', '.join(data)} has none of its columns and has Ragstone's own names")
    return True


def find_config(named: str | None = None) -> Config | None:
    """The named file, or ragstone.toml of this folder or of the nearest parent folder that has one."""
    named = named or os.environ.get(VARIABLE) or None
    path = Path(named) if named else next((one for one in _candidates() if one.is_file()), None)
    return None if path is None else Config(path, _read(path), named is not None)


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
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not a TOML file: {error}") from error


def _apply(ctx: typer.Context, value: str | None) -> str | None:
    """Callback of `--config`: checks the file and makes it the defaults of the command."""
    config = None if ctx.resilient_parsing else find_config(value)
    if config is not None:
        names: list[str] = []
        step: Any = ctx
        while step.parent is not None:
            names.insert(0, str(step.info_name))
            step = step.parent
        _check(config, step.command)
        ctx.default_map = _defaults(config, names)
    return value


def _defaults(config: Config, names: list[str]) -> dict[str, Any]:
    section: Any = config.table
    for name in names:
        section = section.get(name, {})
    options = _COMMANDS[" ".join(names)]
    skipped = _READ_BY_COMMAND.get(names[0], frozenset())
    found: dict[str, Any] = {}
    for table, title in ((config.table, ""), (section, _title(names))):
        for key, value in table.items():
            if _key(key) in options and _key(key) not in skipped and not (title == "" and _is_section(key, value)):
                one = options[_key(key)]
                found[one.parameter] = _convert(one, value, f"{config.path}: {title}{key}", config.path)
    return found


def _check(config: Config, group: Any) -> None:
    """Raises a UsageError for an unknown section or key, or for a value of the wrong type."""
    common = {_key(flag) for item in SHARED.values() for flag in item.flags.split() if flag.startswith("--")}
    for key, value in config.table.items():
        if _is_section(key, value) and key in group.commands:
            _check_section(config, group.commands[key], [key], value)
        elif _key(key) not in common or (isinstance(value, Mapping) and _key(key) != "map"):
            known = [*group.commands, *(name.replace("_", "-") for name in common)]
            raise UnknownNameError(f"section or key in {config.path}:", key, known, "docs/config.md lists them.")
        else:
            if not any(_key(key) in options for options in _COMMANDS.values()):
                # Loads the other commands: one of them has the option.
                list(group.commands.values())
            named = (options[_key(key)] for options in _COMMANDS.values() if _key(key) in options)
            if (one := next(named, None)) is not None:
                _convert(one, value, f"{config.path}: {key}", config.path)


def _check_section(config: Config, command: Any, names: list[str], table: Mapping[str, Any]) -> None:
    if hasattr(command, "commands"):
        for name, inner in table.items():
            if name not in command.commands or not isinstance(inner, Mapping):
                raise UnknownNameError(f"section in {config.path}: {'.'.join(names)}", name, command.commands)
            _check_section(config, command.commands[name], [*names, name], inner)
        return
    title, options = _title(names), _COMMANDS[" ".join(names)]
    skipped = _READ_BY_COMMAND.get(names[0], frozenset())
    for key, value in table.items():
        if _key(key) not in options:
            known = [name.replace("_", "-") for name in options]
            raise UnknownNameError(
                f"key of {title.strip()} in {config.path}:", key, known, f"Keys: {', '.join(known)}."
            )
        if _key(key) not in skipped:
            _convert(options[_key(key)], value, f"{config.path}: {title}{key}", config.path)


def _describe(parameter: inspect.Parameter) -> Option:
    kind, is_list = parameter.annotation, False
    if isinstance(kind, types.UnionType):
        kind = next(one for one in get_args(kind) if one is not type(None))
    if get_origin(kind) is list:
        kind, is_list = get_args(kind)[0], True
    return Option(parameter.name, (int, float) if kind is float else kind, is_list, parameter.default)


def _convert(one: Option, value: Any, where: str, path: Path) -> Any:
    """The value as the option takes it; a wrong type or range is a UsageError that names the file and the key."""
    if isinstance(value, Mapping) and one.takes_pairs:
        value = [f"{name}={text}" for name, text in value.items()]
    if one.is_list:
        return [_convert_one(one, item, where, path) for item in (value if isinstance(value, list) else [value])]
    return _convert_one(one, value, where, path)


def _convert_one(one: Option, value: Any, where: str, path: Path) -> Any:
    if not isinstance(value, one.kind) or (isinstance(value, bool) and one.kind is not bool):
        raise UsageError(f"{where} must be {_KINDS[one.kind]}, got {value!r}")
    low, high = one.info.min, one.info.max
    if (low is not None and value < low) or (high is not None and value > high):
        limits = [f"at least {low}"] * (low is not None) + [f"at most {high}"] * (high is not None)
        raise UsageError(f"{where} must be {' and '.join(limits)}, got {value!r}")
    return _resolve(one, value, path) if one.kind is str else value


def _resolve(one: Option, value: str, path: Path) -> str:
    """A relative path of a settings file in another folder is relative to that folder."""
    folder = path.resolve().parent
    is_path = (one.info.metavar or "").startswith(_PATHS) and "://" not in value and value != "-"
    return str(folder / value) if is_path and folder != Path.cwd() and not Path(value).is_absolute() else value


def _is_section(key: str, value: Any) -> bool:
    return isinstance(value, Mapping) and key != "map"


def _key(text: str) -> str:
    return text.removeprefix("--").replace("-", "_")


def _title(names: list[str]) -> str:
    return f"[{'.'.join(names)}] "
