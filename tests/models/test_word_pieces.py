"""Word pieces against the package tokenizers, which has them from the same file."""

import json
import random
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.errors import StorageError
from ragstone.models.store import Installed, Store
from ragstone.models.word_pieces import WordPieces

tokenizers = pytest.importorskip("tokenizers")
JUDGE = Store().get("local-judge")
PATH = JUDGE.folder / "tokenizer.json"


@pytest.fixture(scope="module")
def both():
    """A function that returns our numbers and those of the package."""
    ours, theirs = WordPieces.open(JUDGE), tokenizers.Tokenizer.from_file(str(PATH))
    theirs.encode_special_tokens = True
    return lambda text: (ours.encode(text), theirs.encode(text, add_special_tokens=False).ids)


def test_single_texts(both):
    texts = [
        "The café's opening hours: 9–17 (Mon.–Fri.), €4.50!",
        "[CLS] is plain text, [SEP] too; [UNK] and [PAD]",
        "unbelievably internationalisation antidisestablishmentarianism",
        "İstanbul ΣΊΣΥΦΟΣ Ελλάς ﬁne Straße ½ ² ﷺ",
        "日本語 한국어 中文 ไทย हिन्दी עִבְרִית",
        "a\x00b\ufffdc\u200bd\u00ade\u2028f\x85g\tx\r\ny",
        "",
        " ",
        "x" * 100 + " " + "x" * 101,
        "≠ ≮ Å ǅ \u0344 👩‍👩‍👧 \U000e0041",
    ]
    for text in texts:
        ours, theirs = both(text)
        assert ours == theirs, text


@given(st.text(alphabet=st.characters(max_codepoint=0x4FF, exclude_categories=["Cs"]), max_size=40))
def test_random_texts_of_the_scripts_that_it_reads(both, text):
    ours, theirs = both(text)
    assert ours == theirs


@pytest.mark.slow
def test_every_character(both):
    """Its tables are older than those of Python: characters that came since then, and few others, differ."""
    every = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    differ = []
    for letter in every:
        ours, theirs = both(f"a{letter}b x{letter} {letter}")
        if ours != theirs:
            differ.append(letter)
    older = [one for one in differ if unicodedata.ucd_3_2_0.category(one) != "Cn"]
    assert len(differ) < 1_000
    assert len(older) < 5
    assert min(map(ord, differ)) > 0x600


def test_long_texts_of_many_words(both):
    words = [word for word in json.loads(PATH.read_text())["model"]["vocab"] if not word.startswith("[")]
    drawn = random.Random(0)
    text = "".join(drawn.choice(words).removeprefix("##") + drawn.choice(["", "", " ", "-"]) for _ in range(5_000))
    ours, theirs = both(text)
    assert ours == theirs
    assert len(ours) > 5_000


@pytest.mark.parametrize("broken", ['{"model": {"type": "BPE"}}', "{}", "[", "[]", '{"model": {"type": "WordPiece"}}'])
def test_a_tokenizer_of_another_kind_is_refused(tmp_path, broken):
    (tmp_path / "tokenizer.json").write_text(broken)
    with pytest.raises(StorageError, match=r"'other' cannot be used: tokenizer\.json"):
        WordPieces.open(Installed("other", tmp_path, "here", {}))
