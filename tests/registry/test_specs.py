"""What a function says about itself."""

from typing import Literal, TypedDict

import pytest

from ragstone.errors import DefinitionError
from ragstone.registry import evidence
from ragstone.registry.specs import Parameter, read_signature


def test_parameters_of_every_kind():
    def function(
        answer,
        bare=3,
        plain: float = 1.0,
        maybe: int | None = None,
        quoted: "int | None" = None,
        choice: Literal["a", "b"] = "a",
    ): ...

    needs, parameters, wants_pieces = read_signature(function)
    assert needs == ("answer",)
    assert not wants_pieces
    assert parameters == (
        Parameter("bare", 3, (int,)),
        Parameter("plain", 1.0, (float,)),
        Parameter("maybe", None, (int, type(None))),
        Parameter("quoted", None, (int, type(None))),
        Parameter("choice", "a", (), ("a", "b")),
    )


@pytest.mark.parametrize("annotation", [list[str], list[str] | None, Literal["a"] | None], ids=str)
def test_parameters_must_be_simple(annotation):
    def function(answer, x: annotation = None): ...

    with pytest.raises(DefinitionError, match="parameter 'x' needs a simple type, got "):
        read_signature(function)


def test_whole_numbers_are_numbers():
    value = Parameter("beta", 1.0, (float,)).accept(2, "m")
    assert (value, type(value)) == (2.0, float)


def test_the_type_of_each_piece(catalogue):
    class Pieces(TypedDict):
        first: list[str]
        second: float

    def both(answer): ...

    both.__annotations__["return"] = Pieces
    evidence(yields=("first", "second"))(both)
    assert catalogue.evidence("first").annotation_of("first") == list[str]
    assert catalogue.evidence("first").annotation_of("second") is float


def test_the_type_of_a_single_piece(catalogue):
    @evidence
    def piece(answer) -> list[int]: ...

    assert catalogue.evidence("piece").annotation_of("piece") == list[int]
