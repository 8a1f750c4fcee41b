"""Guess the language of a short text by its script and, for Latin letters, by its function words.

`guess_language` is accurate enough to group questions: close languages are confused in very short texts, and an unclear text
is `other`. `foreign_language` is careful: it names a language only if a text is surely not in one of the known ones.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache

from ragstone.text.late_pattern import late_pattern

OTHER = "other"
_SCRIPTS = (
    ("ja", late_pattern("[\u3040-\u30ff]")),
    ("ko", late_pattern("[\uac00-\ud7af\u1100-\u11ff]")),
    ("zh", late_pattern("[\u3400-\u9fff]")),
    ("ru", late_pattern("[\u0400-\u04ff]")),
    ("ar", late_pattern("[\u0600-\u06ff]")),
    ("hi", late_pattern("[\u0900-\u097f]")),
    ("he", late_pattern("[\u0590-\u05ff]")),
    ("el", late_pattern("[\u0370-\u03ff]")),
    ("th", late_pattern("[\u0e00-\u0e7f]")),
)
_SMALL_WORDS = {
    "en": "the of and to in is are was were what which who how when where why do does did can could i you it for on with my this that there many much be has have had from by at not an a",
    "de": "der die das und ist sind war ein eine einen einem wie was wer wann wo warum kann ich du sie nicht mit für auf zu im in den dem des von bei gibt es viel viele wird hat haben",
    "fr": "le la les des et est sont un une comment que quel quelle quels quelles qui quand où pourquoi je vous tu il elle dans pour avec sur au aux du de ne pas combien ce cette l d j c est-ce",
    "es": "el la los las y es son un una cómo qué quién cuándo dónde por para con en del al de no cuál cuánto cuánta cuántos puedo hay se su mi que lo está",
    "it": "il lo la gli le e è sono un una come che chi quando dove perché per con nel della del di non quanto quale posso si c dei delle al alla",
    "pt": "o a os as e é são um uma como que quem quando onde por para com em do da dos das não qual quanto posso se há ao na no está",
    "nl": "de het een en is zijn was hoe wat wie wanneer waar waarom kan ik je niet met voor op van bij er veel wordt dat dit te",
    "pl": "i w na z do nie się jest są jak co kto kiedy gdzie dlaczego czy to ile jaki jaka jakie mogę od przez dla o",
}
_WORD = late_pattern(r"[^\W\d_]+")
_LONGEST = 400


def guess_language(text: str) -> str:
    """A two-letter code, or `other`."""
    text = text[:_LONGEST]
    if not text.isascii():
        for code, letters in _SCRIPTS:
            # Many texts contain names and units in other scripts; a third of the letters must match.
            if 3 * len(letters.findall(text)) >= sum(map(str.isalpha, text)) > 0:
                return code
    words = _WORD.findall(text.casefold())
    scores = {code: sum(word in small for word in words) for code, small in _small_words().items()}
    best = max(scores.values())
    leaders = [code for code, score in scores.items() if score == best]
    if not best or (len(leaders) > 1 and "en" not in leaders):
        return OTHER
    return leaders[0]


@cache
def _small_words() -> dict[str, frozenset[str]]:
    return {code: frozenset(words.split()) for code, words in _SMALL_WORDS.items()}


# Frequent words of running text that are rare in English. Words that several languages share count for each of them.
_FOREIGN_WORDS = {
    "de": "der die das und ist sind ein eine einen einem einer eines nicht mit für auf zu im den dem des von bei wird werden hat haben oder aus nach wenn auch nur kann sich über vor zum zur bis sie er es wir dass durch sein muss um am an als uhr ja nein keine kein keinen unter ab ohne bitte noch mehr mindestens höchstens gibt können dürfen müssen darf sollte wurde dauert kostet beträgt gilt gelten endet zahlen tag tage tagen jahr jahre jahren monat monate monaten woche wochen zwei drei vier fünf sechs sieben acht neun zehn zwölf zwanzig prozent montags dienstags mittwochs donnerstags freitags samstags sonntags montag dienstag mittwoch donnerstag freitag samstag sonntag alle rund dazu bleiben innerhalb ihre ihr diese dieser beim vom uns wie",
    "fr": "le la les des et est sont un une dans pour avec sur au aux du de ne pas ce cette qui que par plus ou se sa son ses leur vous il elle être avoir peut sans entre mais chaque doit si en l d c n s qu à oui non n'y y a après avant sous seuls moins aussi tous toutes aucun aucune environ pouvez faut jour jours mois ans année heures heure deux trois quatre cinq sept huit neuf douze vingt lundi mardi mercredi jeudi vendredi samedi dimanche cent mot dure coûte prend prenez votre nos notre nous ils elles très comme jusqu'à depuis",
    "es": "el la los las y es son un una por para con en del al de se su que no lo como más o pero sus le está están puede hasta desde cuando sin sobre cada si debe entre también sí a solo sólo después antes hay ninguna ninguno esto este esta estos días día meses mes años año dos tres cuatro cinco seis siete ocho nueve diez doce veinte lunes martes miércoles jueves viernes sábado sábados domingo domingos cuesta dura tarda abre todas todos necesita ciento aproximadamente máximo muy nuestro nuestra ser tiene ya",
    "it": "il lo la gli le e è sono un una per con nel nella della del di non che si dei delle al alla alle allo agli in a da dal dalla più anche come o ma ogni deve può se i suo sua sì no nei negli prima dopo due tre quattro cinque sei sette otto dieci dodici venti giorni giorno mesi mese anni anno ore lunedì martedì mercoledì giovedì venerdì sabato domenica ci sotto costa dura tutti tutte solo senza questo questa fino",
    "pt": "o a os as e é são um uma por para com em do da dos das não que se ao na no como mais ou mas pode até cada deve seu sua entre também nas nos pelo pela sim às à depois antes dois duas três quatro cinco oito doze vinte dias dia meses mês anos ano segundas segunda-feira sábado domingo custa dura sobre isso este esta todos todas só sem foi tem horas",
    "nl": "de het een en is zijn niet met voor op van bij er wordt worden dat dit te of aan ook als maar naar uit door kan moet om tot je u hun dan nog geen ja nee uur onder over twee drie vier vijf zes zeven acht negen tien twaalf dagen dag jaar maanden maand maandag dinsdag woensdag donderdag vrijdag zaterdag zondag kost duurt alle alleen zonder na hij zij wij deze die ze",
    "pl": "i w na z do nie się jest są od przez dla o po za ze który która które lub oraz jak być może tylko przy jego ich tym tej ma co to nad pod już",
    "sv": "och att det som är en ett på av för med den till inte kan har från om vid eller när också ska efter de man under var",
    "da": "og at det som er en et på af for med den til ikke kan har fra om ved eller når også skal efter de man være bliver",
    "cs": "a v na se je že s z do to nebo pro jako jsou by které který při ve ze po od být až také jen pokud",
    "tr": "ve bir bu için ile olarak da de olan en daha çok gibi ya veya her kadar sonra ise değil olur",
    "fi": "ja on ei se että oli joka hän mutta kun myös tai sekä ovat jos niin voi kuin sen ovat",
    "ro": "și în de la cu pe nu este sunt un o care din pentru sau se mai prin după că al ale",
    "id": "dan yang di untuk dengan tidak ini itu dari pada adalah ke dalam atau akan bisa dapat oleh juga",
    "vi": "và là của có không được cho các một trong với này để khi những người từ đến",
}
_ENGLISH_WORDS = (
    "the of and to is are was were what which who how when where why does did can could you it for on with my this "
    "that there many much be has have had from by at not an or as if its they their we our your he she his her will "
    "would must should may only than then after before until up out into over more most all any each one two per "
    "about also so but been being don't isn't it's doesn't you're yes under within without between during because "
    "while these those them us him such other same first last three four five ten use used see take costs cost open "
    "day days hour hours month months year years via near once both either"
)
# Frequent in English and elsewhere: they show nothing.
_SHARED = (
    "a al am an as at cent costa die do dos en i in is it man me mot no o of on or over per plus sans se si so son te to under "
    "via was we"
)
_SHARED_WORDS = frozenset(_SHARED.split())
# "die" is the article of German, and rarely an English verb; the particles of names show nothing between two names.
_ALSO = {
    "de": frozenset(("die", "am", "an", "unter")),
    "pt": frozenset(("o",)),
    "pl": frozenset(("o",)),
    "es": frozenset(("no",)),
}
_NAME_PARTICLES = "da das de del den der di do dos du e el la las le los van von y"
_PARTICLES = frozenset(_NAME_PARTICLES.split())
_TEXT = 3_000
_LEAST_WORDS = 3
_LEAST_SHARE, _LEAST_COUNT, _LEAST_ALONE = 0.15, 3, 2
_LEAST_LETTERS = 4


def foreign_language(text: str, known: Collection[str] = ("en",)) -> str | None:
    """The language of a text that is surely in none of the known ones: a two-letter code, or `other` if it is uncertain which.

    None for texts in a known language, and for short or unclear ones.
    """
    text = text[:_TEXT]
    letters = sum(map(str.isalpha, text))
    if not text.isascii():
        for code, script in _SCRIPTS:
            count = len(script.findall(text))
            if count >= _LEAST_LETTERS and 2 * count > letters:
                # Chinese characters and kana both occur in Japanese.
                return None if code in known else code
    found = _WORD_WITH_APOSTROPHE.findall(text.casefold() if text.isupper() else text)
    if len(found) < _LEAST_WORDS:
        return None
    scores = _score_languages(found)
    ranked = sorted(scores, key=lambda code: (scores[code], code in known), reverse=True)
    best, second = ranked[0], next(code for code in ranked[1:] if code != "en")
    mine = max((scores[code] for code in known if code in scores), default=0)
    enough = max(_LEAST_COUNT if mine else _LEAST_ALONE, _LEAST_SHARE * len(found))
    if best in known or scores[best] < enough or scores[best] <= 2 * mine:
        return None
    return best if scores[best] > scores[second] else OTHER


def _score_languages(found: Sequence[str]) -> dict[str, int]:
    """How many words speak for each language: its frequent words, outside of names, and words with accents."""
    english, foreign = _running_words()
    plain = [word.casefold() for word in found]
    capital = [word[0].isupper() for word in found]
    inside = _inside_names(found, capital)
    words = [word for word, named in zip(plain, inside, strict=True) if not named]
    # A capital letter within a text is that of a name, and "La Perla" may be one at its start.
    told = [word for at, word in enumerate(plain) if not inside[at] and not (capital[at] and (at or any(capital[1:2])))]
    accented = sum(not word.isascii() and "’" not in word for at, word in enumerate(plain) if not capital[at])
    scores = {}
    for code, small in foreign.items():
        # German nouns have capitals too, so articles at the start are articles.
        score = sum(word in small for word in (words if code == "de" else told))
        # Accents are rare in English and speak for the language whose frequent words are there.
        scores[code] = score + min(accented, score)
    return scores | {"en": sum(word in english for word in plain)}


def _inside_names(found: Sequence[str], capital: Sequence[bool]) -> list[bool]:
    """Which words are particles between two words with capitals: `Cruz de la Sierra`."""
    inside = [False] * len(found)
    start = None
    for at, word in enumerate(found):
        if capital[at]:
            if start is not None:
                inside[start + 1 : at] = [True] * (at - start - 1)
            start = at
        elif word not in _PARTICLES:
            start = None
    return inside


_WORD_WITH_APOSTROPHE = late_pattern(r"[^\W\d_]+(?:['’][^\W\d_]{1,2}\b)?")


@cache
def _running_words() -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    english = frozenset(_ENGLISH_WORDS.split()) - _SHARED_WORDS
    return english, {
        code: frozenset(words.split()) - _SHARED_WORDS | _ALSO.get(code, frozenset())
        for code, words in _FOREIGN_WORDS.items()
    }
