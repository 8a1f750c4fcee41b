"""Word overlap in many languages and scripts: sensible, the same however it is written, and never lost."""

import unicodedata
from itertools import product

import pytest

import ragstone.metrics  # noqa: F401  (fills the catalogue)
from ragstone.data.types import Chunk, Sample
from ragstone.registry import CATALOGUE
from tests.each_case import each_case
from tests.metrics.scoring import score

LEXICAL = {
    spec.name: spec
    for spec in CATALOGUE.metrics()
    if spec.family == "lexical" and spec.judges == "answer" and spec.against in ("references", "contexts")
}
# All or nothing, so there is nothing between the same text and another one.
YES_OR_NO = {"exact_match", "contains"}
# Runs of words: a short text and its paraphrase may have none in common.
RUNS = {"rouge_2", "rouge_n", "bleu"}


def row(answer, reference):
    return Sample(answer, answer=answer, references=[reference], contexts=[Chunk(reference)])


def worth(answer, reference, *names):
    """How good the answer is by each metric: its value, or what is missing where lower is better."""
    found = score([row(answer, reference)], *(names or LEXICAL))
    return {
        name: 1 - cells[0].value if LEXICAL[name].better == "lower" else cells[0].value for name, cells in found.items()
    }


# The reference, the same in other words, something else.
TEXTS = {
    "Chinese": ("这艘渡轮每天早上九点从码头出发。", "渡轮每天上午九点从码头启航。", "我们昨晚吃了热汤和米饭。"),
    "Chinese, traditional": ("最後一班船晚上九點離開島上。", "末班船在晚上九點離島。", "孩子們喜歡在公園玩耍。"),
    "Japanese": ("最終便は夜九時に島を出ます。", "最後の便は夜の九時に島から出発します。", "猫がソファで眠っている。"),
    "Thai": ("เรือเที่ยวสุดท้ายออกจากเกาะเวลาสามทุ่ม", "เรือเที่ยวสุดท้ายจะออกจากเกาะตอนสามทุ่ม", "ฉันชอบกินข้าวผัดกับไข่"),
    "Arabic": ("تغادر آخر عبارة الجزيرة في الساعة التاسعة", "آخر عبارة تغادر الجزيرة الساعة التاسعة مساء", "يحب الأطفال اللعب بالكرة"),
    "Arabic with its vowels": ("تُغادِرُ آخِرُ عَبَّارَةٍ الجَزيرَةَ لَيْلاً", "آخِرُ مَرْكَبٍ يَتْرُكُ الجَزيرَةَ لَيْلاً", "يُحِبُّ الأَطفالُ اللَّعِبَ"),
    "Hebrew": ("המעבורת האחרונה יוצאת מהאי בשעה תשע", "המעבורת האחרונה עוזבת את האי בשעה תשע", "הילדים אוהבים לשחק"),
    "Hindi": ("आख़िरी नाव रात नौ बजे द्वीप से निकलती है", "आख़िरी नाव द्वीप से रात नौ बजे चलती है", "बच्चों को खेलना पसंद है"),
    "Russian": ("Последний паром уходит с острова в девять", "В девять с острова уходит последняя лодка", "Дети любят играть дома"),
    "Greek": ("Το τελευταίο πλοίο φεύγει στις εννέα", "Στις εννέα φεύγει το τελευταίο καράβι", "Τα παιδιά παίζουν"),
    "German": ("Die letzte Fähre verlässt die Insel um neun", "Um neun verlässt das letzte Schiff die Insel", "Kinder spielen gern Ball"),
    "Turkish": ("Son vapur adadan saat dokuzda kalkıyor", "Adadan son gemi saat dokuzda kalkıyor", "Çocuklar top oynuyor"),
    "Korean": ("마지막 배는 아홉 시에 섬을 떠납니다", "마지막 배가 아홉 시에 섬에서 출발합니다", "아이들은 놀기를 좋아한다"),
    "Vietnamese": ("Chuyến phà cuối rời đảo lúc chín giờ", "Phà cuối cùng rời đảo vào chín giờ tối", "Trẻ em thích chơi bóng"),
    "Chinese and English": ("GPT-4 模型由 OpenAI 在2023年发布", "OpenAI 于2023年推出 GPT-4 模型", "天气 today 很好"),
    "emoji": ("👍 the ferry 🚢 leaves at 9 😀", "🚢 leaves at 9 😀 sharp", "🐈 sleeps 💤"),
}  # fmt: skip


@pytest.mark.parametrize("language", TEXTS)
def test_a_paraphrase_lies_between_the_same_and_something_else(language):
    text, near, other = TEXTS[language]
    same, alike, unlike = worth(text, text), worth(near, text), worth(other, text)
    for name in LEXICAL.keys() - YES_OR_NO:
        least = 0.02 if name in RUNS else 0.15
        assert alike[name] <= same[name] - 0.02, (name, alike[name], same[name])
        assert alike[name] >= unlike[name] + (0 if name == "rouge_n" else least), (name, alike[name], unlike[name])
    for name in YES_OR_NO:
        assert (same[name], alike[name], unlike[name]) == (1, 0, 0)


@pytest.mark.parametrize("language", TEXTS)
def test_the_same_text_is_the_best_there_is(language):
    text = TEXTS[language][0]
    for name, value in worth(text, text).items():
        assert value == pytest.approx(1, abs=0.01 if name == "meteor" else 1e-12), name


@pytest.mark.slow
def test_rows_do_not_see_each_other():
    rows = [row(answer, texts[0]) for texts in TEXTS.values() for answer in texts]
    together, backwards = score(rows, *LEXICAL), score(rows[::-1], *LEXICAL)
    for name, cells in together.items():
        alone = [score([one], name)[name][0].value for one in rows]
        assert [cell.value for cell in cells] == pytest.approx(alone, abs=1e-12)
        assert [cell.value for cell in backwards[name][::-1]] == pytest.approx(alone, abs=1e-12)


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        # Six characters, the third differs: 渡轮, 点出 and 出发 of five pairs are the same.
        ("渡轮九点出发", "渡轮八点出发", {"token_f1": 5 / 6, "rouge_1": 5 / 6, "rouge_2": 3 / 5, "rouge_l": 5 / 6, "ter": 1 / 6}),
        # น้ ำ เ ย็ น and น้ ำ ร้ อ น: a mark stays with its letter, but for TER, which counts seven characters.
        ("น้ำเย็น", "น้ำร้อน", {"token_f1": 3 / 5, "rouge_1": 3 / 5, "ter": 3 / 7}),
        # ひ ら が な: a voiced sound is one character, however it is typed.
        ("ひらか\u3099な", "ひらがき", {"token_f1": 3 / 4, "rouge_1": 3 / 4, "ter": 1 / 4}),
        ("नाव नौ बजे जाती है", "नाव दस बजे जाती है", {"token_f1": 4 / 5, "rouge_1": 4 / 5, "rouge_2": 2 / 4, "ter": 1 / 5}),
        ("هذا كتاب جديد", "هذا قلم جديد", {"token_f1": 2 / 3, "rouge_1": 2 / 3, "ter": 1 / 3}),
        # With and without vowel signs, and drawn out: as they are, so these are different words.
        ("كِتَاب", "كتاب", {"token_f1": 0, "rouge_1": 0, "ter": 1}),
        ("كتـــاب", "كتاب", {"token_f1": 0, "rouge_1": 0, "ter": 1}),
        # gpt4 在 2023 年 发 布; for ROUGE gpt and 4 are two words.
        ("GPT-4在2023年发布", "GPT-4于2023年发布", {"token_f1": 5 / 6, "rouge_1": 6 / 7, "ter": 1 / 6}),
        ("Ü Ö Ä", "ü ö a\u0308", {"token_f1": 1, "rouge_1": 1, "rouge_2": 1, "ter": 0}),
        ("شلوم עולם abc", "עולם abc", {"token_recall": 1, "token_precision": 2 / 3, "ter": 1 / 2}),
    ],
)  # fmt: skip
def test_by_hand(answer, reference, expected):
    found = {name: cells[0].value for name, cells in score([row(answer, reference)], *expected).items()}
    assert found == pytest.approx(expected)


def twice(name, first, second, *marks):
    return pytest.param(first, second, id=name, marks=marks)


@pytest.mark.slow
@pytest.mark.parametrize("text", [text for texts in TEXTS.values() for text in texts])
def test_composed_and_decomposed_are_the_same(text):
    text = unicodedata.normalize("NFC", text)
    for name, value in worth(unicodedata.normalize("NFD", text), text).items():
        assert value == pytest.approx(worth(text, text, name)[name], abs=1e-12), name


@pytest.mark.parametrize(
    ("first", "second"),
    [
        twice("upper case", "STRASSE ÄRGER", "Straße Ärger"),
        twice("final sigma", "ΟΔΌΣ ΦΩΣ", "οδός φως"),
        twice("dotted i, both", "İSTANBUL", "İstanbul"),
        twice("no-break space", "neun\u00a0Uhr", "neun Uhr"),
        twice("ideographic space", "東京\u3000大阪", "東京 大阪"),
        twice("Chinese full stop", "东京。", "东京"),
        twice("Thai without and with space", "ไทยแลนด์", "ไทย แลนด์"),
        twice("Korean", unicodedata.normalize("NFD", "한국어"), "한국어"),
        twice("ligature", "oﬃce", "office"),
        twice("dotted i", "İstanbul", "istanbul"),
        twice("full-width letters", "ＡＢＣ　１２３", "abc 123"),
        twice("half-width kana", "ｶﾞｲﾄﾞ", "ガイド"),
        twice("danda", "यह नाव है।", "यह नाव है"),
        twice("Arabic question mark", "أين الكتاب؟", "أين الكتاب"),
        twice("Arabic comma", "نعم، شكرا", "نعم شكرا"),
        twice("right-to-left mark", "\u200fשלום עולם\u200f", "שלום עולם"),
        twice("byte order mark", "\ufeffHafen", "Hafen"),
        twice("soft hyphen", "Schiff\u00adfahrt", "Schifffahrt"),
    ],
)
def test_the_same_words_written_another_way(first, second):
    assert worth(first, second, "token_f1", "rouge_1") == {"token_f1": 1, "rouge_1": 1}
    assert worth(second, first, "token_f1", "rouge_1") == {"token_f1": 1, "rouge_1": 1}


SYMBOLS = {
    "emoji": "😀",
    "flag": "🇫🇷",
    "joined": "👩\u200d🚀",
    "skin": "👍🏽",
    "heart": "❤\ufe0f",
    "keycap": "1\ufe0f\u20e3",
    "family": "👨\u200d👩\u200d👧\u200d👦",
    "several": "😀 🇫🇷 👍🏽",
}
CUT_OUT = {name for name in LEXICAL if name.startswith("rouge")} | {"meteor"}


@each_case("symbol, name", product(SYMBOLS.values(), sorted(LEXICAL.keys() - CUT_OUT)))
def test_an_answer_of_symbols_is_not_lost(symbol, name):
    assert worth(symbol, symbol, name)[name] == pytest.approx(1)
    assert worth(symbol, "🐈", name)[name] <= 0
    beside = [worth("yes", f"yes {symbol}", name)[name], worth(f"yes {symbol}", "yes", name)[name]]
    assert min(beside) < 1


@pytest.mark.parametrize("name", ["rouge_1", "rouge_l", "rouge_lsum"])
def test_an_answer_of_symbols_is_not_lost_on_rouge(name):
    for symbol in SYMBOLS.values():
        assert worth(symbol, symbol, name)[name] == pytest.approx(1), symbol


def test_a_heart_is_a_heart():
    assert worth("❤\ufe0f", "❤", "token_f1") == {"token_f1": 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "\u0301",
        "\u200d",
        "\ufe0f",
        "\u202e",
        "🇫",
        "👩\u200d",
        "\u0e48",
        "\u3099",
        "ـ",
        "\ufdfa",
        "\U000e0067",
        "\ud7ff",
        "\U0010ffff",
    ],
)
def test_a_character_on_its_own_breaks_nothing(text):
    for answer in (text, f"x{text}", f"{text}中", f"{text} {text}"):
        for reference in (text, "x", ""):
            for name, cells in score([row(answer, reference)], *LEXICAL).items():
                assert cells[0].status != "failed", (name, answer, reference, cells[0].reason)
