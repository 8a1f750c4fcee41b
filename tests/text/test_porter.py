"""The Porter stemmer against the examples of Porter's paper (1980) and of nltk's documentation."""

from ragstone.text.porter import stem
from tests.each_case import each_case

PAPER = (
    "caresses:caress ponies:poni caress:caress cats:cat feed:feed agreed:agre plastered:plaster bled:bled "
    "motoring:motor sing:sing conflated:conflat troubled:troubl sized:size hopping:hop tanned:tan falling:fall "
    "hissing:hiss fizzed:fizz failing:fail filing:file happy:happi relational:relat conditional:condit rational:ration "
    "digitizer:digit operator:oper feudalism:feudal decisiveness:decis hopefulness:hope callousness:callous "
    "formality:formal sensitivity:sensit sensibility:sensibl triplicate:triplic formative:form formalize:formal "
    "electrical:electr hopeful:hope goodness:good revival:reviv allowance:allow inference:infer airliner:airlin "
    "gyroscopic:gyroscop adjustable:adjust defensible:defens irritant:irrit replacement:replac adjustment:adjust "
    "dependent:depend adoption:adopt communism:commun activate:activ effective:effect bowdlerize:bowdler "
    "probate:probat rate:rate cease:ceas controlling:control rolling:roll"
)
# nltk's own: not as in the paper.
EXTENSIONS = (
    "sky:sky skies:sky dying:die lying:lie news:news innings:inning dies:die died:die flies:fli spied:spi enjoy:enjoy "
    "spy:spi by:by is:is was:wa theology:theolog hopefully:hope nationally:nation possibly:possibl"
)


@each_case("pair", f"{PAPER} {EXTENSIONS}".split())
def test_examples(pair):
    word, expected = pair.split(":")
    assert stem(word) == expected


def test_case_and_other_letters():
    assert stem("RUNNING") == "run"
    assert stem("Übungen") == "übungen"
    assert stem("東京") == "東京"
    assert stem("") == ""


def test_a_word_of_a_megabyte_takes_no_time():
    assert len(stem("y" * 1_000_000)) == 1_000_000
    assert stem("a" * 1_000_000 + "b" * 1_000 + "ing").endswith("b")
