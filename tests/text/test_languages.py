import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.text.languages import guess_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("When does the last ferry leave?", "en"),
        ("Wann fährt die letzte Fähre?", "de"),
        ("Combien coûte un billet pour les enfants ?", "fr"),
        ("¿Cuánto cuesta el billete para los niños?", "es"),
        ("Quando parte il traghetto per la Sicilia?", "it"),
        ("Quanto custa o bilhete e onde posso comprar?", "pt"),
        ("Hoe laat vertrekt het laatste schip van de dag?", "nl"),
        ("Ile kosztuje bilet i gdzie jest przystań?", "pl"),
        ("最后一班渡轮几点开？", "zh"),
        ("最終フェリーは何時ですか", "ja"),
        ("마지막 배는 언제 떠나나요?", "ko"),
        ("Когда отходит последний паром?", "ru"),
        ("متى تغادر العبارة الأخيرة؟", "ar"),
        ("Who is 李明 at the harbour office?", "en"),
        ("", "other"),
        ("12:30", "other"),
        ("Xylophon Zebra", "other"),
    ],
)
def test_the_language_of_a_question(text, language):
    assert guess_language(text) == language


@given(st.text())
def test_any_text_has_one(text):
    assert len(guess_language(text)) in (2, 5)
