"""How answers decline, language by language: plain data for `text.refusals`, one idea a line, a file a language.

Patterns are regular expressions over folded text (lower case, no accents, no Arabic vowel signs), and are folded the same
way themselves, so they are written with all their accents. Those that end in `$` must be all of a clause.
"""

from __future__ import annotations

from ragstone.text.refusal_phrases.arabic import ARABIC
from ragstone.text.refusal_phrases.chinese import CHINESE
from ragstone.text.refusal_phrases.english import ENGLISH
from ragstone.text.refusal_phrases.french import FRENCH
from ragstone.text.refusal_phrases.german import GERMAN
from ragstone.text.refusal_phrases.hindi import HINDI
from ragstone.text.refusal_phrases.italian import ITALIAN
from ragstone.text.refusal_phrases.japanese import JAPANESE
from ragstone.text.refusal_phrases.portuguese import PORTUGUESE
from ragstone.text.refusal_phrases.russian import RUSSIAN
from ragstone.text.refusal_phrases.shape import Phrases
from ragstone.text.refusal_phrases.spanish import SPANISH

# Who says that the question itself is not answered has declined for good: what follows does not answer it either.
ANSWERING = (
    r"answer|respond|help|assist|beantwort|répond|respon[ds]|rispo[ns]|ответ|回答|作答|答复|答え|إجاب|أجيب|उत्तर|जवाब"
)
# … unless it begins with one of these.
CONTRAST = (
    r"(?:.*\bhowever|but|nevertheless|still|that said|yet|aber|jedoch|allerdings|dennoch|mais|cependant|toutefois|néanmoins|"
    r"pero|sin embargo|no obstante|ma|però|tuttavia|mas|porém|no entanto|contudo|но|однако|тем не менее)\b|但|不过|不過|然而|可是|"
    r"しかし|ただし|لكن|ولكن|ومع ذلك|लेकिन|परंतु|किंतु|मगर|हालांकि"
)

LANGUAGES: dict[str, Phrases] = {
    "en": ENGLISH,
    "zh": CHINESE,
    "de": GERMAN,
    "fr": FRENCH,
    "es": SPANISH,
    "it": ITALIAN,
    "pt": PORTUGUESE,
    "ru": RUSSIAN,
    "ja": JAPANESE,
    "ar": ARABIC,
    "hi": HINDI,
}

__all__ = ["ANSWERING", "CONTRAST", "LANGUAGES", "Phrases"]
