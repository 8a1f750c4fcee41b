"""ragstone truth: one file per command or pair of commands."""

from __future__ import annotations

from collections.abc import Callable

from ragstone.cli.help import CREATE, REPAIR, VERSIONS
from ragstone.cli.truth.check import check, suspects
from ragstone.cli.truth.collect import collect
from ragstone.cli.truth.diff import diff, merge
from ragstone.cli.truth.extract import extract
from ragstone.cli.truth.harvest import harvest, signals
from ragstone.cli.truth.rescore import estimate, rescore
from ragstone.cli.truth.review import accept, reject
from ragstone.cli.truth.synthesise import synthesise
from ragstone.cli.truth.versions import export, history, import_, list_, show

COMMANDS: dict[str, dict[str, Callable[..., None]]] = {
    CREATE: {
        "import": import_,
        "collect": collect,
        "extract": extract,
        "synthesise": synthesise,
        "signals": signals,
        "harvest": harvest,
    },
    REPAIR: {
        "check": check,
        "suspects": suspects,
        "accept": accept,
        "reject": reject,
        "rescore": rescore,
        "estimate": estimate,
    },
    VERSIONS: {"list": list_, "show": show, "history": history, "diff": diff, "merge": merge, "export": export},
}
