"""Estimates of tokens beside the counts of two real tokenizers.

The counts are those of tiktoken 0.14.0: `len(tiktoken.get_encoding(name).encode(text))` for cl100k_base and o200k_base.
"""

import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.llm.base import _FOREIGN, LLM, LLMWrapper, Message, Request, estimate_request, estimate_tokens
from ragstone.testing import FakeLLM

PROSE = (
    "The harbour was built in 1892 and has sheltered fishing boats ever since. Its lighthouse stands on the eastern mole, "
    "where the keeper's cottage was turned into a small museum after the lamp had been automated. Visitors may climb the "
    "tower on the first Sunday of every month, provided that the wind is below forty knots; otherwise the gallery remains "
    "closed. According to the harbour master, roughly twelve thousand tonnes of herring are landed each year, most of which "
    "is smoked in the old warehouses along the quay and sold at the morning market."
)
INSTRUCTION = (
    "You are given a question, an answer and several numbered passages. Decide for every claim of the answer whether the "
    "passages entail it, contradict it, or say nothing about it. Use only the passages, not your own knowledge. Reply with "
    "a JSON object and nothing else.\n\n[1] The lighthouse was automated in 1964.\n[2] Tickets cost 4.50 euros.\n"
)
JSON_REPLY = (
    '{"verdicts": [{"claim": 1, "supported_by": [1, 3], "contradicted_by": [], "together": "entailment"}, '
    '{"claim": 2, "supported_by": [], "contradicted_by": [2], "together": "contradiction"}, '
    '{"claim": 3, "supported_by": [], "contradicted_by": [], "together": "neutral"}]}'
)
JSON_CLAIMS = (
    '{\n  "claims": [\n    "The harbour was built in 1892.",\n    "The lighthouse stands on the eastern mole.",\n'
    '    "Visitors may climb the tower on the first Sunday of every month."\n  ],\n  "entities": ["harbour", "lighthouse"]\n}'
)
RUSSIAN = (
    "Гавань была построена в тысяча восемьсот девяносто втором году и с тех пор принимает рыболовные суда. "
    "Маяк на восточном молу виден за двадцать миль, а рынок открывается каждое утро в шесть часов."
)
CHINESE = "港口建于一八九二年,从那时起就停泊渔船。东码头上的灯塔在二十海里之外都能看见,市场每天早上六点开门。"
JAPANESE = "港は一八九二年に建設され、それ以来漁船を受け入れています。東の桟橋の灯台は二十海里先からも見え、市場は毎朝六時に開きます。"
KOREAN = (
    "항구는 1892년에 건설되었으며 그 이후로 어선을 받아들이고 있습니다. "
    "동쪽 부두의 등대는 20해리 밖에서도 보이고 시장은 매일 아침 여섯 시에 문을 엽니다."
)


@pytest.mark.parametrize(
    ("text", "counts"),
    [(PROSE, (110, 107)), (INSTRUCTION, (78, 77)), (JSON_REPLY, (92, 92)), (JSON_CLAIMS, (59, 57))],
)
def test_english_and_json_within_a_tenth(text, counts):
    assert estimate_tokens(text) == pytest.approx(sum(counts) / 2, rel=0.1)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (PROSE, 112),
        (INSTRUCTION, 81),
        (CHINESE, 37),
        (
            "The library is closed on Mondays. A yearly card costs twenty euros and is issued on presentation of an identity card. Whoever returns books late pays a fee of fifty cents for each week begun.",
            38,
        ),
        (
            "Die Bibliothek bleibt montags geschlossen. Ein Jahresausweis kostet zwanzig Euro und wird gegen Vorlage des Personalausweises ausgestellt. Wer Bücher verspätet zurückgibt, zahlt eine Säumnisgebühr von fünfzig Cent je angefangene Woche.",
            65,
        ),
        (
            "Arbeitnehmerinnen und Arbeitnehmer haben Anspruch auf achtundzwanzig Tage bezahlten Urlaub im Jahr. Nicht genommene Urlaubstage können bis zum 31. März des Folgejahres übertragen werden, sofern die Geschäftsleitung zustimmt.",
            62,
        ),
        (
            "Vor der Reinigung ist das Gerät auszuschalten und mindestens dreißig Minuten abkühlen zu lassen. Der Wassertank fasst 1,8 Liter. Die rote Lampe blinkt, sobald das Entkalkungsprogramm fällig ist.",
            61,
        ),
        (
            "图书馆星期一不开放。年度借书证的费用是二十欧元,办理时需要出示身份证。逾期归还图书的读者,每周须支付五十分的滞纳金。",
            39,
        ),
        (
            "员工每年享有二十八天带薪假期。未使用的假期最多可以有五天结转到次年三月三十一日。申请必须至少提前三周提出,并由团队负责人批准。",
            43,
        ),
        (
            "清洗之前请关闭机器,并让它冷却至少三十分钟。水箱容量为1.8升。当需要除垢时,红灯会闪烁。只能使用柠檬酸,醋会损坏密封圈。",
            44,
        ),
    ],
)
def test_three_languages_within_15_percent_of_a_small_models_tokenizer(text, count):
    """Counted by Qwen2.5's own tokenizer."""
    assert estimate_tokens(text) == pytest.approx(count, rel=0.15)


@pytest.mark.parametrize(
    ("text", "counts"), [(RUSSIAN, (97, 61)), (CHINESE, (61, 47, 37)), (JAPANESE, (70, 53)), (KOREAN, (81, 55))]
)
def test_other_scripts_lie_between_the_tokenizers(text, counts):
    assert min(counts) <= estimate_tokens(text) <= max(counts)


def test_small_texts():
    assert [estimate_tokens(text) for text in ("", "a", " ", "Yes.", "\n\n")] == [0, 1, 1, 2, 1]


@given(st.text(), st.text())
def test_more_text_is_more_tokens(one, other):
    """Up to the factor of other languages, which are recognised by more text only."""
    both = estimate_tokens(f"{one}\n{other}")
    assert max(estimate_tokens(one), estimate_tokens(other)) <= both * _FOREIGN + 1
    assert both <= (estimate_tokens(one) + estimate_tokens(other) + 3) * _FOREIGN


def test_a_request():
    asked = Request((Message("system", "a b c d"), Message("user", "one two three four five")), guess="one two three")
    assert estimate_request(asked) == (4 + 4 + 5 + 4 + 3, 3)


def test_long_texts_take_no_time():
    text = f"{PROSE} {RUSSIAN} {CHINESE}" * 100
    started = time.process_time()
    assert estimate_tokens(text) > 10_000
    assert time.process_time() - started < 5


def test_a_wrapper_forwards_everything_to_its_model():
    async def work():
        closed = []
        model = FakeLLM(["yes"])
        model.close = lambda: asyncio.sleep(0, closed.append("model"))
        wrapper = LLMWrapper(LLMWrapper(model))
        assert isinstance(wrapper, LLM)
        assert (wrapper.name, wrapper.signature) == (model.name, model.signature)
        assert (await wrapper.complete(Request((Message("user", "?"),)))).text == "yes"
        await wrapper.close()
        return closed

    assert asyncio.run(work()) == ["model"]
