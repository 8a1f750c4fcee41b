"""Writes questions without a language model: by extraction, with rules, checked by words and by the local judge."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import NamedTuple, cast

from ragstone.data.verdict import CONTRADICTION, ENTAILMENT, Verdict
from ragstone.errors import Skip
from ragstone.formats.documents import Passage
from ragstone.text.languages import guess_language
from ragstone.text.overlap import content_stems
from ragstone.text.persons import find_sensitive
from ragstone.text.questions import complete
from ragstone.text.sentences import sentences
from ragstone.tools.local_judges import LocalChecker
from ragstone.truth.synthesis.question_rules import Asking, Vocabulary, ask_passage, figure, orders_a_model, prose_lines
from ragstone.truth.synthesis.styles import Style, restyled, shuffled_styles
from ragstone.truth.synthesis.writer import NEED_BOTH, ONE_IS_ENOUGH, SHARES, Draft, Job, Kind, Order, Turn

# Share of the words of a question that a sentence elsewhere has: then it competes with the answer, or distracts from it.
_COMPETES, _DISTRACTS, _RELATED, _FITS, _SAYS = 0.95, 0.5, 0.5, 0.6, 0.7
_NAME = r"(?:the |Dr |Mr |Mrs |Ms |Miss )?[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*"
_DESCRIBED = re.compile(
    r"\b(?P<what>[Tt]he (?:(?!of |in |at )[a-z-]+ ){0,3}[a-z-]+), "
    rf"(?P<name>{_NAME})(?=[,.;])|(?P<named>{_NAME}), (?P<also>(?:the|an?) (?:[a-z-]+ ){{0,3}}[a-z-]+)(?=[,.;])"
)
_NAMED_FOR = re.compile(r"who is named for “(?P<what>[^”]+)”")
_NUMBERED = re.compile(r"\b(?P<noun>[A-Za-z]{3,}) (?P<number>\d{1,3})(?=[\s”?,])(?! ?(?:%|°|to|kg|k?m|per|[a-z]*s)\b)")
_COMMON = content_stems(
    "cost costs pay pays state stated long much many day days week weeks year years minute minutes hour hours crown crowns"
)
_THING = re.compile(r"\b[Tt]he ([A-Z][a-z]+)(?= (?:is|was|has|had|carried|carries|lies|takes)\b|[,.;])")
# What asks in a question, and is not in its answer.
_ASKING = content_stems("how much many long what time dates which stated named missing here")
_YEAR = re.compile(r"(?<!\w)(?:19|20)\d\d(?![\w–/-])")


class Fact(NamedTuple):
    """A question by rule about a passage; `question` names the topic where `asking` does not."""

    passage: Passage
    asking: Asking
    question: str

    @property
    def is_cell(self) -> bool:
        """Whether it is a cell of a table."""
        return self.asking.citation.startswith("|")


@dataclass(frozen=True)
class RuleJob(Job):
    """A question that a rule has written."""

    question: str = ""
    answer: str = ""
    citations: tuple[str, ...] = ()
    form: str = "rule"
    history: tuple[str, ...] = ()
    # The question before it got its style, and what was changed to make it unanswerable.
    plain: str = ""
    detail: str = ""


class RuleWriter:
    """Makes questions by rules, and checks them by words and by the local judge, if it is installed."""

    # What the rules find is all tried, if it must be: it costs nothing.
    most_tries = 1_000

    def __init__(self, passages: Sequence[Passage], order: Order, checker: LocalChecker | None) -> None:
        self._checker = checker
        self.signature = f"rules/1{'+local judge' if checker else ''}"
        self.prompts: dict[str, str] = {}
        self._index = _Index(passages)
        self.jobs = self._plan(order)

    async def write(self, job: Job, asked: Sequence[str]) -> Draft:  # noqa: ARG002  (rules do not repeat themselves)
        """The question that was planned."""
        made = cast("RuleJob", job)
        return Draft(job, made.question, made.answer, list(made.citations), list(made.history), made.form)

    async def find_failure(self, draft: Draft) -> str | None:
        """Why a draft is rejected: another passage answers it too, one of two is enough, or the judge finds no support."""
        job = cast("RuleJob", draft.job)
        kind, index = job.kind, self._index
        if kind == "unanswerable":
            return "the documents answer an unanswerable question" if index.is_near(job) else None
        if kind in NEED_BOTH:
            return ONE_IS_ENOUGH if index.is_in_one_document(job) else None
        if kind != "several" and index.has_rival(job):
            return "another passage answers it otherwise"
        if draft.form == "rule" and kind in ("single", "distracting") and await self._is_denied(draft):
            return "its source gives another answer, by the local judge"
        return None

    async def _is_denied(self, draft: Draft) -> bool:
        """Whether the local judge reads something else in the source, or reads the answer in what only distracts."""
        if self._checker is None:
            return False
        claim = complete(draft.question, draft.answer)
        texts = [f"{passage.subject}.\n{passage.text}" for passage in draft.job.passages]
        try:
            verdicts: list[Verdict] = (await self._checker.check(draft.question, [claim], texts))[0]
        except Skip:  # a language that it does not read
            return False
        return verdicts[0] == CONTRADICTION or ENTAILMENT in verdicts[1:]

    def _plan(self, order: Order) -> Iterator[RuleJob]:
        """All that the rules find: kinds by their shares, spread over documents and sections."""
        chance = random.Random(order.seed)  # noqa: S311  (a draw, not a secret)
        usable = [passage for passage in self._index.passages if self._index.facts[passage.id]]
        if not usable:
            return
        turn = Turn(usable, chance)
        facts = [self._index.facts[turn.next().id] for _ in usable]
        finders: dict[Kind, Iterable[RuleJob]] = {
            "single": _singles(facts, cells=False),
            "several": _several(facts),
            "bridge": self._index.bridges(facts),
            "comparison": _pairs(facts, "comparison"),
            "aggregation": _pairs(facts, "aggregation"),
            "table": _singles(facts, cells=True),
            "unanswerable": self._index.unanswerable(facts),
            "distracting": self._index.distracting(facts),
        }
        waiting = {kind: iter(jobs) for kind, jobs in finders.items()}
        styles, seen = shuffled_styles(order.styles, chance), set[tuple[str, ...]]()
        while waiting:
            drawn = [kind for kind in waiting for _ in range(SHARES[kind] // 10)]
            chance.shuffle(drawn)
            for kind in drawn:
                job = next(
                    (job for job in waiting[kind] if (job.answer or job.question, *job.citations) not in seen), None
                )
                if job is None:
                    del waiting[kind]
                    break
                seen.add((job.answer or job.question, *job.citations))
                yield self._styled(replace(job, plain=job.question), styles)

    def _styled(self, job: RuleJob, styles: Iterator[Style]) -> RuleJob:
        """A question in the next style. Gaps, and languages other than English, stay plain."""
        if job.form == "cloze" or guess_language(job.passages[0].text) not in ("en", "other"):
            return job
        style = next(styles)
        if style == "follow-up":
            return self._index.followed(job) or job
        if style == "keyword" and job.kind in (*NEED_BOTH, "several"):
            return job
        return replace(job, question=restyled(job.question, style), style=style)


class _Index:
    """The facts and sentences of all passages."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = list(passages)
        vocabulary = Vocabulary.of([passage.text for passage in passages])
        sources = {(passage.title, passage.source) for passage in passages}
        shared = {title for title, count in Counter(title for title, _ in sources).items() if count > 1}
        self.facts = {passage.id: list(_find_facts(passage, vocabulary, shared)) for passage in passages}
        self._sentences = [
            (passage, text, content_stems(f"{passage.subject} {text} {head}"))
            for passage in passages
            for text, head in _pieces(passage.text)
        ]

    def has_rival(self, job: RuleJob) -> bool:
        """Whether a sentence elsewhere has all words of the question, but not the answer; a quoted name must be whole."""
        wanted = content_stems(job.plain) - content_stems(job.answer) - _ASKING
        quoted = re.findall(r"for “([^”]+)”\?", job.plain)
        return any(
            text not in job.citations
            and job.answer not in text
            and len(wanted & stems) >= _COMPETES * len(wanted)
            and (not quoted or (passage.id != job.passages[0].id and quoted[0].lower() in text.lower()))
            for passage, text, stems in self._sentences
        )

    def is_near(self, job: RuleJob) -> bool:
        """Whether a sentence has the changed detail of an unanswerable question and half of its other words."""
        detail = content_stems(job.detail)
        wanted = content_stems(job.plain) - detail
        return any(detail <= stems and len(wanted & stems) > _RELATED * len(wanted) for _, _, stems in self._sentences)

    def is_in_one_document(self, job: RuleJob) -> bool:
        """Whether the document of one citation also says what the other citation says."""
        first, second = job.passages
        for citation, other in zip(job.citations, (second, first), strict=True):
            wanted = content_stems(citation)
            numbers = {stem for stem in wanted if stem[0].isdigit()}
            near = (stems for passage, _, stems in self._sentences if passage.source == other.source)
            if any(numbers <= stems and len(wanted & stems) >= _SAYS * len(wanted) for stems in near):
                return True
        return first.source == second.source

    def followed(self, job: RuleJob) -> RuleJob | None:
        """A question as the second of a conversation: after another one about the same subject, with a pronoun for it."""
        own = [fact for fact in self.facts[job.passages[0].id] if fact.asking.subject]
        this = next((fact for fact in own if fact.question == job.question), None)
        before = next((one for one in own if this and one != this and one.asking.subject == this.asking.subject), None)
        if this is None or before is None:
            return None
        plural = re.search(rf"\b(?:are|were|do) {re.escape(this.asking.subject)}", this.asking.question)
        asked = this.asking.question.replace(f"“{this.asking.subject}”", "it", 1)
        asked = asked.replace(this.asking.subject, "they" if plural else "it", 1)
        return replace(job, question=f"And {_lower(asked)}", history=(before.question,), style="follow-up")

    def bridges(self, facts: Sequence[Sequence[Fact]]) -> Iterator[RuleJob]:
        """Questions about a name in one document that another document describes: the description replaces the name.

        Without the name, the question must fit several sentences of its document: otherwise that document alone is enough.
        """
        by_word: defaultdict[str, list[Fact]] = defaultdict(list)
        for fact in (fact for of_passage in facts for fact in of_passage):
            for word in set(re.findall(r"\w+", fact.asking.question)):
                by_word[word].append(fact)
        for what, name, passage, citation in self._descriptions():
            for fact in by_word[re.findall(r"\w+", name)[-1]]:
                is_named = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", fact.asking.question)
                if not is_named or fact.passage.source == passage.source or what.lower() in fact.passage.text.lower():
                    continue
                question = fact.question.replace(f"“{name}”", what).replace(name, what)
                wanted = content_stems(fact.asking.question) - content_stems(name)
                fitting = [
                    text
                    for one, text, stems in self._sentences
                    if one.source == fact.passage.source and len(wanted & stems) >= _FITS * len(wanted)
                ]
                if len(fitting) > 1 and name not in question:
                    shown, cited = (passage, fact.passage), (citation, fact.asking.citation)
                    yield RuleJob("bridge", shown, "plain", "", question, fact.asking.answer, cited, fact.asking.form)

    def _descriptions(self) -> Iterator[tuple[str, str, Passage, str]]:
        for passage, text, _ in self._sentences:
            for found in _DESCRIBED.finditer(text):
                yield _lower(found["what"] or found["also"]), found["name"] or found["named"], passage, text
        for of_passage in self.facts.values():
            for fact in of_passage:
                match = _NAMED_FOR.fullmatch(fact.asking.question.rstrip("?"))
                if match and not any(map(str.isdigit, match["what"])):
                    yield f"the {_lower(match['what'])}", fact.asking.answer, fact.passage, fact.asking.citation

    def unanswerable(self, facts: Sequence[Sequence[Fact]]) -> Iterator[RuleJob]:
        """Questions with another number, year, person or thing, of which no document says anything."""
        everything = "\n".join(f"{passage.subject}\n{passage.text}" for passage in self.passages)
        persons = list(
            dict.fromkeys(everything[one.start : one.end] for one in find_sensitive(everything) if one.kind == "person")
        )
        things = [name for name in _THING.findall(everything) if name.lower() not in everything]
        for fact in _interleave(facts):
            for old, new, detail in _changes(fact, everything, persons, things) if fact.asking.form == "rule" else ():
                question = fact.question.replace(old, new)
                yield RuleJob("unanswerable", (fact.passage,), "plain", "", question, detail=detail)
                break

    def distracting(self, facts: Sequence[Sequence[Fact]]) -> Iterator[RuleJob]:
        """Questions for which another passage has a sentence with half of the words and another answer."""
        for fact in _interleave(facts):
            if fact.asking.form == "cloze" or not re.search(r"\d", fact.asking.answer):
                continue
            wanted = content_stems(fact.asking.question)
            near = [
                (len(wanted & stems) / len(wanted), passage)
                for passage, text, stems in self._sentences
                if passage.id != fact.passage.id and fact.asking.answer not in text and bool(re.search(r"\d", text))
            ]
            share, passage = max(near, key=lambda pair: pair[0], default=(0.0, fact.passage))
            if share >= _DISTRACTS:
                yield _job("distracting", fact, (fact.passage, passage))


def _changes(
    fact: Fact, everything: str, persons: Sequence[str], things: Sequence[str]
) -> Iterator[tuple[str, str, str]]:
    """The possible changes of a question: the old words, the new ones, and the detail that no document has."""
    if match := _NUMBERED.search(fact.asking.question):
        numbers = re.findall(rf"(?i)\b{match['noun']} (\d+)", everything)
        numbers += re.findall(r"(?m)^\| *(\d{1,3}) *\|", fact.passage.text)
        number = f"{match['noun']} {max(map(int, [match['number'], *numbers])) + 1}"
        yield match[0], number, number
    # A year in the title matters for prices and plans, and not for an event of that year.
    is_yearly = fact.is_cell or fact.asking.measure.startswith("money")
    if match := _YEAR.search(fact.question if is_yearly else fact.asking.question):
        year = next(str(year) for year in range(int(match[0]) + 2, 2200) if str(year) not in everything)
        yield match[0], year, year
    for person in persons:
        given = person.split()[0]
        named = person if person in fact.asking.question else given
        if re.search(rf"(?<!\w){re.escape(named)}(?!\w)", fact.asking.question):
            others = [one for one in persons if one != person and one.split()[0] != given]
            yield from ((named, one if named == person else one.split()[0], one) for one in others[:1])
    if fact.asking.subject in things:
        others = [name for name in things if name not in fact.passage.text]
        yield from ((fact.asking.subject, name, name) for name in others[:1])


def _find_facts(passage: Passage, vocabulary: Vocabulary, shared: Collection[str | None]) -> Iterator[Fact]:
    for asking in ask_passage(passage.text, vocabulary, guess_language(passage.text)):
        # The names of the documents distinguish equal titles.
        title = f"{passage.title} ({passage.source})" if passage.title in shared else passage.title
        yield Fact(passage, asking, _with_topic(title, passage.heading, asking))


def _with_topic(title: str | None, heading: str | None, asking: Asking) -> str:
    """The question after the title and the heading that it does not contain; a long question by a rule needs only the title."""
    known = content_stems(asking.question)
    parts = [re.sub(r"^\d+\.\s*", "", part) for part in (title, heading) if part]
    topic = [part.rstrip("?").replace(":", " –") for part in dict.fromkeys(parts) if not content_stems(part) <= known]
    if asking.form == "rule" and not asking.question[0].islower():
        topic = topic[:1] if len(known) >= 5 else topic
    return (
        f"{', '.join(topic)}: {_lower(asking.question)}" if topic else asking.question[:1].upper() + asking.question[1:]
    )


def _lower(question: str) -> str:
    return question[:1].lower() + question[1:]


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Each sentence, each row of a table with its head, and each item of a list."""
    head = ""
    for line in map(str.strip, text.split("\n")):
        head = (head or line) if line.startswith("|") else ""
        if head or (line[:1] in "-*" and ": " in line):
            yield line, head
    for line in prose_lines(text):
        yield from (
            (line[start:end].strip(), "") for start, end in sentences(line) if not orders_a_model(line[start:end])
        )


def _interleave(facts: Sequence[Sequence[Fact]]) -> Iterator[Fact]:
    for row in zip_longest(*facts):
        yield from (fact for fact in row if fact is not None)


def _job(kind: Kind, fact: Fact, passages: tuple[Passage, ...]) -> RuleJob:
    asking = fact.asking
    return RuleJob(kind, passages, "plain", "", fact.question, asking.answer, (asking.citation,), asking.form)


def _singles(facts: Sequence[Sequence[Fact]], cells: bool) -> Iterator[RuleJob]:
    """One fact of each passage, then the second of each; gaps after rules."""
    kept = [sorted((fact for fact in one if fact.is_cell == cells), key=_rank) for one in facts]
    yield from (_job("table" if cells else "single", fact, (fact.passage,)) for fact in _interleave(kept))


def _several(facts: Sequence[Sequence[Fact]]) -> Iterator[RuleJob]:
    """Two facts of one passage by rule, in one question; one question per passage, then the next of each."""
    rules = [list({fact.asking.citation: fact for fact in one if fact.asking.form == "rule"}.values()) for one in facts]
    for pairs in zip_longest(*(zip(one[::2], one[1::2], strict=False) for one in rules)):
        for first, second in (pair for pair in pairs if pair):
            question = f"{first.question.rstrip('?')}, and {_lower(second.asking.question)}"
            answer = f"{first.asking.answer}; {second.asking.answer}"
            cited = first.asking.citation, second.asking.citation
            yield RuleJob("several", (first.passage,), "plain", "", question, answer, cited)


def _pairs(facts: Sequence[Sequence[Fact]], kind: Kind) -> Iterator[RuleJob]:
    """Two figures of one measure in two documents, compared or added."""
    by_measure: defaultdict[str, list[Fact]] = defaultdict(list)
    for fact in _interleave(facts):
        if fact.asking.measure and (kind == "comparison" or fact.asking.measure.startswith("money")):
            by_measure[fact.asking.measure].append(fact)
    for same in by_measure.values():
        used: set[str] = set()
        for fact in same:
            others = [one for one in same if one.passage.source != fact.passage.source and one.question not in used]
            best = max(others, key=lambda one: _alike(fact, one), default=None)
            if fact.question in used or best is None or _alike(fact, best) == 0:
                continue
            used |= {fact.question, best.question}
            if figure(fact.asking.answer) != figure(best.asking.answer):
                yield _paired(kind, fact, best)


def _alike(one: Fact, other: Fact) -> int:
    """The number of words that two facts share, without numbers, units and verbs that every price has."""
    shared = content_stems(f"{one.asking.question} {one.asking.citation}")
    shared &= content_stems(f"{other.asking.question} {other.asking.citation}")
    return sum(not stem.isdigit() and stem not in _COMMON for stem in shared)


def _paired(kind: Kind, first: Fact, second: Fact) -> RuleJob:
    one, other = (figure(fact.asking.answer) or 0.0 for fact in (first, second))
    both = f"{first.question[:1].upper()}{first.question[1:]} {second.question[:1].upper()}{second.question[1:]}"
    if kind == "comparison":
        question = f"{both} Which of the two is more, and by how much?"
        stated = f"{first.asking.answer} and {second.asking.answer}"
        answer = f"{stated}; the {'first' if one > other else 'second'} is more, by {_in_unit(abs(one - other), first.asking.answer)}"
    else:
        question = f"{both} How much is that together?"
        answer = f"{_in_unit(one + other, first.asking.answer)} ({first.asking.answer} and {second.asking.answer})"
    cited = first.asking.citation, second.asking.citation
    return RuleJob(kind, (first.passage, second.passage), "plain", "", question, answer, cited)


def _in_unit(value: float, like: str) -> str:
    """A number in the notation of a figure, without its bound: `£7.50` like `£5`."""
    number = f"{value:.2f}" if value % 1 else f"{value:,.0f}"
    return re.sub(r"\d[\d,]*(?:\.\d+)?", number, re.sub(r"^(?:up to|at least|about|no more than) ", "", like))


def _rank(fact: Fact) -> int:
    """Questions by rule first, then gaps for figures, then gaps for names."""
    return 0 if fact.asking.form == "rule" else 1 if re.search(r"\d", fact.asking.answer) else 2
