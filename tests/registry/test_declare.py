"""What the two decorators take, and what they refuse."""

import pytest

from ragstone.errors import DefinitionError
from ragstone.registry import evidence, metric


def message_of(declare) -> str:
    with pytest.raises(DefinitionError) as caught:
        declare()
    return str(caught.value)


def test_a_metric_says_what_it_needs(catalogue):
    @metric("mine.length", bounds=(0, None), better="lower")
    def length(answer, contexts, k: int | None = None):
        """How long the answer is;
        in words.

        More about it.
        """

    spec = catalogue.metric("mine.length").spec
    assert (spec.needs, [parameter.name for parameter in spec.parameters]) == (("answer", "contexts"), ["k"])
    assert (spec.family, spec.bounds, spec.better) == ("mine", (0, None), "lower")
    assert (spec.meaning, spec.details) == ("How long the answer is; in words.", "More about it.")


def test_a_metric_without_family_is_the_users_own(catalogue):
    @metric("length")
    def length(answer): ...

    assert catalogue.metric("custom.length").spec.function is length


def test_the_decorated_function_stays_a_function(catalogue):
    @metric("double")
    def double(answer):
        return 2 * answer

    @evidence
    def twice(answer):
        return 2 * answer

    assert double(2) == twice(2) == 4


@pytest.mark.parametrize("name", ["", "Length", "a b", "a-b", "a@5", "5a", "a.", ".a", "a..b", "ä", "a\n"])
def test_bad_names(catalogue, name):
    def declare():
        metric(name)(lambda answer: 1.0)

    assert message_of(declare) == f"'{name}' is not a good name: lower-case letters, digits, '_' and '.' only"
    assert not list(catalogue.metrics())


def test_evidence_with_a_bad_name(catalogue):
    assert message_of(lambda: evidence(lambda answer: 1.0)).startswith("'<lambda>' is not a good name")
    assert message_of(lambda: evidence(yields=["A"])(lambda answer: 1.0)).endswith("'_' and '.' only")


@pytest.mark.parametrize("kind", [metric("m"), evidence], ids=["metric", "evidence"])
def test_needs_must_have_names(catalogue, kind):
    def stars(*answers): ...
    def more(**rest): ...
    def nameless(answer, /): ...

    for function, part in ((stars, "*answers"), (more, "**rest"), (nameless, "answer")):
        where = function.__qualname__
        expected = f"{where}: '{part}' is not a name that can be filled in; name each need"
        assert message_of(lambda function=function: kind(function)) == expected


def test_an_async_metric_is_refused(catalogue):
    async def slow(answer): ...

    expected = "metric 'slow' is async"
    assert message_of(lambda: metric("slow")(slow)).startswith(expected)


def test_async_evidence_is_welcome(catalogue):
    @evidence
    async def claims(answer): ...

    assert catalogue.evidence("claims").is_async


def test_evidence_has_no_parameters(catalogue):
    def tokens(answer, lower=True): ...

    assert message_of(lambda: evidence(tokens)) == (
        "tokens: evidence has no parameters, so 'lower' cannot have a default; "
        "what is chosen once for a run is a tool, what belongs to one number is a parameter of the metric"
    )


def test_one_function_may_make_several_pieces(catalogue):
    @evidence(yields=("first", "second"), version=2)
    def both(answer, wanted): ...

    spec = catalogue.evidence("first")
    assert spec is catalogue.evidence("second")
    assert catalogue.evidence("both") is None
    assert (spec.needs, spec.wants_pieces, spec.version) == (("answer",), True, 2)
    assert list(catalogue.all_evidence()) == [spec]


def test_the_same_definition_again_replaces_the_first(catalogue):
    """A notebook cell is run twice."""

    def define(value):
        @metric("mine.score", aliases=("score",))
        def score(answer):
            return value

        @evidence
        def piece(answer):
            return value

    define(1)
    define(2)
    assert catalogue.metric("score").spec.function("") == catalogue.evidence("piece").function("") == 2
    assert len(list(catalogue.metrics())) == len(list(catalogue.all_evidence())) == 1


def test_another_function_of_the_same_name_is_refused(catalogue):
    def first(answer): ...
    def second(answer): ...

    metric("m")(first)
    home = f"{first.__module__}.{first.__qualname__}"
    assert message_of(lambda: metric("m")(second)) == f"metric 'm' is already defined in {home}; choose another name"
    assert catalogue.metric("m").spec.function is first


def test_evidence_that_another_function_makes_is_refused(catalogue):
    def first(answer): ...
    def second(answer): ...

    evidence(yields=("a", "b"))(first)
    message = message_of(lambda: evidence(yields=("c", "b"))(second))
    assert message == f"evidence 'second' is already defined in {__name__}.{first.__qualname__}; choose another name"
    assert catalogue.evidence("c") is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"better": "up"}, "better must be one of higher, lower, none, got 'up'"),
        ({"bounds": (1, 0)}, r"bounds must be \(low, high\), got \(1, 0\)"),
        (
            {"judges": "answr"},
            r"judges must be one of answer, contexts, .*, system, got 'answr'\. Did you mean answer\?",
        ),
    ],
)
def test_words_that_make_no_sense(catalogue, words, message):
    with pytest.raises(DefinitionError, match=f"^metric 'odd': {message}$"):
        metric("odd", **words)(lambda answer: 1.0)


@pytest.mark.parametrize(
    ("name", "message"),
    [("all", "is the name of a set of metrics"), ("mine", "is the name of a set"), ("same", "already means 'first'")],
)
def test_names_that_are_taken(catalogue, name, message):
    metric("first", family="mine", aliases=["same"])(lambda answer: 1.0)
    with pytest.raises(DefinitionError, match=message):
        metric(name)(lambda answer: 1.0)


def test_a_bare_metric_has_the_name_of_its_function(catalogue):
    @metric
    def mine(answer: str) -> float:
        return 1.0

    assert catalogue.metric("mine").spec.function is mine
    assert catalogue.metric("mine").spec.family == "custom"
