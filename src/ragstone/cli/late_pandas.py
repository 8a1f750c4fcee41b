"""Keeps pyarrow from loading pandas: half a second that no command of Ragstone needs."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from typing import Any


def leave_pandas_out() -> None:
    """Lets pyarrow look for pandas now, in vain. Code that imports pandas later gets it, and pyarrow then uses it too."""
    if "pandas" in sys.modules or any(isinstance(finder, _LatePandas) for finder in sys.meta_path):
        return
    import pyarrow as pa

    finder = _LatePandas()
    sys.meta_path.insert(0, finder)
    # pyarrow looks for pandas when it makes its first array, and only then.
    pa.array([None])
    finder.is_hidden = False


class _LatePandas:
    """Hides pandas at first; later tells pyarrow when other code has imported it."""

    is_hidden = True

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The module of pandas, with a loader that ends by telling pyarrow."""
        del path, target
        if name != "pandas":
            return None
        if self.is_hidden:
            raise ModuleNotFoundError("pandas is not needed yet", name=name)
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_tell(module: Any) -> None:
                load(module)
                from pyarrow import lib

                # Reading the attribute makes pyarrow look again.
                getattr(getattr(lib, "_pandas_api", None), "pd", None)

            spec.loader.exec_module = load_and_tell  # type: ignore[method-assign]
        return spec
