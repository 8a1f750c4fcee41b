"""Makes a command of click from a function: its options and arguments are the defaults of its parameters."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import click
from click.core import ParameterSource

from ragstone.cli.config import FILE, VARIABLE, apply_config, run_with_config
from ragstone.cli.help import JSON_PARTS, PanelCommand
from ragstone.cli.options import EXECUTION, SHARED, Argument, Bundle, split_kind
from ragstone.errors import UsageError
from ragstone.tools.model_options import Option

_CONFIG = Option(
    "--config", EXECUTION, f"Settings file; the nearest {FILE} by default.", metavar="FILE", envvar=VARIABLE
)
_TYPES = {str: click.STRING, int: click.INT, float: click.FLOAT}


class PanelOption(click.Option):
    """An option with its declaration, and the panel in which it is shown."""

    def __init__(self, name: str, declared: Option, kind: Any, **more: Any) -> None:
        self.declared, self.panel = declared._replace(type=kind), declared.panel
        single, is_list = split_kind(kind)
        given: dict[str, Any] = {"is_flag": True} if single is bool else {"type": _click_type(single, declared)}
        if declared.bare is not None:
            given |= {"is_flag": False, "flag_value": declared.bare}
        is_required = declared.default is ...
        if not is_required:
            given["default"] = declared.default
        super().__init__(
            [name, *declared.flags.split()],
            help=declared.help,
            metavar=declared.metavar,
            multiple=is_list,
            required=is_required,
            envvar=declared.envvar,
            hidden=declared.hidden,
            show_envvar=True,
            show_default=not is_required and declared.default not in (None, "", False, []),
            **given,
            **more,
        )


class PanelArgument(click.Argument):
    """An argument with a line of help."""

    def __init__(self, name: str, declared: Argument, kind: Any) -> None:
        single, is_list = split_kind(kind)
        given: dict[str, Any] = {"required": True} if declared.default is ... else {"default": declared.default}
        super().__init__(
            [name],
            type=_TYPES[single],
            nargs=-1 if is_list else 1,
            metavar=declared.metavar,
            envvar=declared.envvar,
            **given,
        )
        self.help = declared.help
        self.declared = declared

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """Its name, and its help with what click adds to that of an option."""
        extra = "required" if self.required else ""
        if self.declared.envvar:
            extra = f"env var: {self.declared.envvar}; default: {self.declared.default}"
        return self.make_metavar(ctx), f"{self.help}  [{extra}]" if extra else self.help or ""


class FloatRange(click.FloatRange):
    """A number within limits; NaN is outside."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number; NaN is a usage error."""
        number = super().convert(value, param, ctx)
        return self.fail(f"{value} is not a number.", param, ctx) if math.isnan(number) else number


def _click_type(kind: Any, declared: Option) -> Any:
    if declared.min is None and declared.max is None:
        return _TYPES[kind]
    make: Any = FloatRange if kind is float else click.IntRange
    return make(declared.min, declared.max)


def make_command(path: str, function: Callable[..., None], panel: str) -> PanelCommand:
    """The command of a function; `path` is its full name, such as `truth collect`."""
    params: list[click.Parameter] = []
    bundles: dict[str, Bundle] = {}
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        declared = parameter.default
        if isinstance(declared, Bundle):
            bundles[name] = declared
            params += [PanelOption(one, SHARED[one], SHARED[one].kind) for one in declared.names]
        else:
            make = PanelArgument if isinstance(declared, Argument) else PanelOption
            params.append(make(name, declared, parameter.annotation))
            if name == "json":
                params += [PanelOption(one, SHARED[one], SHARED[one].kind) for one in JSON_PARTS]
    params.append(PanelOption("config", _CONFIG, str, is_eager=True, callback=partial(apply_config, path)))

    def call(**values: Any) -> None:
        for name, bundle in bundles.items():
            values[name] = bundle.make({one: values.pop(one) for one in bundle.names})
        function(**values)

    def callback(**values: Any) -> None:
        # click has tuples.
        values = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        # `print_json` takes them from the context. A settings file may set them for all commands.
        source = click.get_current_context().get_parameter_source
        parts = [one for one in JSON_PARTS if values.pop(one, None) and source(one) is ParameterSource.COMMANDLINE]
        if parts and not values["json"]:
            raise UsageError(f"--{parts[0]} needs --json")
        run_with_config(path, call, values)

    name = path.rsplit(" ", maxsplit=1)[-1]
    return PanelCommand(name, panel, params=params, callback=callback, help=inspect.cleandoc(function.__doc__ or ""))
