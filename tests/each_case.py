"""`@each_case`: `pytest.mark.parametrize` in one test, for laws over very many cases that take microseconds each."""

import functools
import inspect


def each_case(names, cases):
    """Call the test function once per case, and report all failures together, each with its case.

    Like `parametrize`, `names` are the arguments that a case fills: one case is a tuple if there are several.
    All other arguments are fixtures, which are made once for all cases.
    """
    filled = [name.strip() for name in names.split(",")]
    cases = [case if len(filled) > 1 else (case,) for case in cases]

    def decorate(function):
        @functools.wraps(function)
        def run(**fixtures):
            errors = []
            for case in cases:
                try:
                    function(**fixtures, **dict(zip(filled, case, strict=True)))
                except Exception as error:
                    error.add_note(f"case: {', '.join(map(_short, case))}")
                    errors.append(error)
            if errors:
                raise ExceptionGroup(f"{len(errors)} of {len(cases)} cases failed", errors)

        signature = inspect.signature(function)
        fixtures = [parameter for name, parameter in signature.parameters.items() if name not in filled]
        run.__signature__ = signature.replace(parameters=fixtures)
        assert cases, "a law without cases"
        return run

    return decorate


def _short(value):
    shown = getattr(value, "name", None)
    shown = shown if isinstance(shown, str) else repr(value)
    return shown if len(shown) <= 200 else f"{shown[:200]}…"
