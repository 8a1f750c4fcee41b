import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.text.languages import foreign_language, guess_language


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


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Die letzte Fähre fährt um acht Uhr vom Hafen, und die Karten sind an Bord zu haben.", "de"),
        ("Le dernier bateau part à huit heures et les billets sont vendus à bord.", "fr"),
        ("El último barco sale a las ocho y los billetes se venden a bordo.", "es"),
        ("L'ultimo traghetto parte alle otto e i biglietti sono in vendita a bordo della nave.", "it"),
        ("O último barco parte às oito e os bilhetes são vendidos a bordo do navio.", "pt"),
        ("De laatste boot vertrekt om acht uur en de kaartjes zijn aan boord te koop.", "nl"),
        ("Ostatni prom odpływa o ósmej i bilety są do kupienia na pokładzie.", "pl"),
        ("最后一班渡轮八点开。", "zh"),
        ("最終フェリーは八時に出ます。", "ja"),
        ("Последний паром отходит в восемь часов.", "ru"),
        ("تغادر العبارة الأخيرة في الساعة الثامنة.", "ar"),
        # English, or too little to say.
        ("The last ferry leaves at eight, and tickets are sold on board.", None),
        ("The dos and don'ts of El Niño, La Paz and Die Welt", None),
        ("Die Fähre", None),
        ("5 kg", None),
        ("", None),
        ("The sign 出口 (chūkō) means exit, and 入口 means entrance.", None),
        ("def la(x): return x", None),
    ],
)
def test_a_language_that_is_surely_not_english(text, language):
    assert foreign_language(text) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Das Hallenbad Nord öffnet an Werktagen um 06:30 Uhr und schließt um 21:00 Uhr.", "de"),
        ("Ja, montags um 19:30 Uhr.", "de"),
        ("Höchstens acht Teilnehmer.", "de"),
        ("Drei Werktage nach Eingang der Zahlung.", "de"),
        ("KEINE GEBÜHR FÜR STUDENTEN", "de"),
        ("Non, les chiens sont interdits.", "fr"),
        ("Trois jours ouvrés après le paiement.", "fr"),
        ("Tres días hábiles después del pago.", "es"),
        ("Il contratto dura dodici mesi.", "it"),
        ("O contrato dura doze meses.", "pt"),
        ("De garantie geldt twee jaar.", "nl"),
        ("Delante de la casa.", "other"),
    ],
)
def test_a_short_answer_that_is_not_english(text, language):
    assert foreign_language(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "No, only guide dogs are allowed.",
        "An adult ticket costs 5.50 euros.",
        "Santa Cruz de la Sierra, Bolivia.",
        "Las Vegas, Los Angeles and San Diego.",
        "Café au lait and crème brûlée.",
        "Le Mans and Spa are race tracks.",
        "De facto and de jure segregation differ.",
        "Der Spiegel is a German magazine.",
        "Die casting uses molten metal.",
        "Ask Dr. von der Leyen.",
        "Amoxicillin 500 mg t.i.d. for 7 days.",
        "SELECT name FROM users WHERE id = 1",
        "Nausea, vomiting, dizziness.",
    ],
)
def test_a_short_english_answer_with_names_is_not_foreign(text):
    assert foreign_language(text) is None


def test_known_languages_are_not_foreign():
    assert foreign_language("Die letzte Fähre fährt um acht Uhr vom Hafen ab.", ("en", "de")) is None
    assert foreign_language("最后一班渡轮八点开。", ("en", "zh")) is None


@given(st.text())
def test_any_text_is_read(text):
    assert foreign_language(text) in (None, "other") or len(foreign_language(text)) == 2


@pytest.mark.parametrize(
    "text",
    [
        "C8H10N4O2",
        "S/N: C4-D2",
        "C8H10N4O2 C9H8O4 C13H18O2",
        "IN-12-DE, UN 1203, ES-4",
        "0.11 W/m²K (2023 regulations).",
    ],
)
def test_codes_are_not_a_language(text):
    assert foreign_language(text) is None


def test_one_word_again_and_again_is_not_a_language():
    assert (
        foreign_language("Diagnosed illness, no extra advantage, no permitted alternative, no link to doping.") is None
    )


def test_a_currency_sign_is_not_another_language():
    assert foreign_language("An adult pays 5 € in zone B. An adult pays 3 € in zone B.") is None
