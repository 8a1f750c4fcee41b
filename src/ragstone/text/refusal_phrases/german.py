"""German."""

from ragstone.text.refusal_phrases.shape import Phrases

_DE = (
    r"(?:dokument(?:e|en|s)?|kontext(?:es|s)?|text(?:e|en|es|s)?|unterlagen|quellen?|passagen?|informationen|angaben|daten|"
    r"material(?:ien)?|artikel[ns]?|abschnitt(?:e|en)?|auszug|auszüge[n]?|textstellen?)"
)
_DE_SAY = (
    r"(?:enth(?:ält|alten)|erwähn(?:t|en)|nenn(?:t|en)|geb(?:en)|gibt|sag(?:t|en)|liefer(?:t|n)|biet(?:et|en)|beschreib(?:t|en)|"
    r"beantwort(?:et|en)|mach(?:t|en)|beinhalt(?:et|en)|stell(?:t|en)|erläuter(?:t|n)|äußer(?:t|n)|behandel(?:t|n)|erklär(?:t|en))"
)
GERMAN = Phrases(
    cues=r"nicht|kein|ki\b|modell|intelligenz|unzu|unbe|wenig|k\.",
    declines=(
        r"\b(?:weiß|wissen) (?:ich|wir) (?:leider )?(?:nicht|nichts)\b",  # das weiß ich nicht
        r"\b(?:ich|wir) (?:weiß|wissen) (?:es |das |dazu |leider )*(?:nicht|nichts|keine)\b",  # ich weiß es nicht
        r"\b(?:ich|wir) (?:\w+ )*nicht (?:sicher|beantworten|bestimmen|sagen|finden|feststellen|helfen|beurteilen|angeben)\b",
        r"\b(?:kann|können|konnte|konnten) (?:ich|wir)\b.*\b(?:nicht|nichts|keine?n?)\b.*\b"
        r"(?:beantworten|bestimmen|sagen|finden|feststellen|helfen|beurteilen|angeben|machen|geben)\b",  # kann ich nicht
        r"\b(?:ich|wir) (?:kann|können|konnte|konnten)\b.*\b(?:nicht|nichts|keine?n?)\b.*\b"
        r"(?:beantworten|bestimmen|sagen|finden|feststellen|helfen|beurteilen|angeben|machen|geben)\b",  # ich kann nicht
        r"\b(?:(?:ich|wir) (?:habe|haben|finde|finden|sehe)|(?:habe|haben|finde|finden|sehe) (?:ich|wir))\b.*\b(?:keine?|nichts)\b.*"
        r"(?:information|angabe|hinweis|daten|antwort|erwähnung|gefunden|darüber|dazu)",  # ich habe keine Informationen
        r"\b(?:liegt|liegen|steht|stehen) (?:mir|uns)\b.*\b(?:nicht|keine?)\b",  # das liegt mir nicht vor
        r"\b(?:ich habe|wir haben)\b.*\binformation(?:en)?\b.*\bnicht$",  # ich habe diese Information nicht
        r"\bkeine (?:\w+ ){0,2}(?:informationen|angaben|hinweise|daten|antwort)\b.*\b(?:vor|gefunden|vorhanden|verfügbar|bekannt)$",
        rf"\b{_DE}\b.*\b{_DE_SAY}\b.*\b(?:nicht|nichts|keine?[nrms]?|keinerlei)\b",  # die Dokumente enthalten keine
        rf"\b(?:im|in|aus|anhand|mit|laut|auf)\b.*\b{_DE}\b.*\b(?:nicht|nichts|keine?[nr]?)\b.*\b(?:erwähnt|genannt|angegeben|"
        r"enthalten|hervor|zu finden|beschrieben|beantwort\w+|gesagt|erwähnung|information\w*|angaben?|bestimm\w+|steht)\b",
        rf"\b(?:nicht|nichts|keine?)\b.*\b(?:im|in|aus|anhand|mit)\b.*\b{_DE}\b.*\b(?:erwähnt|genannt|angegeben|enthalten|"
        r"beantwort\w+|bestimm\w+|finden|ableiten|entnehmen)\b",  # nicht mit dem Kontext beantworten
        rf"\b(?:nicht|nichts|keine?) (?:\w+ ){{0,4}}(?:im|in|aus) (?:\w+ ){{0,3}}{_DE}$",  # steht nicht in den Dokumenten
        r"\bfrage\b.*\b(?:lässt sich|kann)\b.*\bnicht beantwort",  # die Frage lässt sich nicht beantworten
        rf"\b{_DE}\b.*\breich(?:t|en) nicht aus\b",  # die Informationen reichen nicht aus
        r"\b(?:keine|nicht genügend|nicht genug|unzureichende|zu wenig|nicht ausreichend(?:e)?) (?:\w+ )?(?:informationen|angaben|daten)\b"
        r"(?: \w+){0,2}$",  # nicht genügend Informationen
        r"\bes (?:gibt|liegen|finden sich|wird) (?:\w+ ){0,3}(?:keine|nicht|nichts)\b.*\b(?:information|angabe|hinweis|erwähn)",
        r"^(?:unbekannt|keine angaben?|keine antwort|keine ahnung|nicht (?:bekannt|angegeben|erwähnt|genannt)|k\. ?a)$",
        r"\bals (?:ki|künstliche intelligenz|sprachmodell)\b",  # als KI
    ),
    leads=(
        r"(?:es tut mir (?:sehr )?leid|tut mir leid|entschuldigung|verzeihung|leider|bedauerlicherweise)\b",
        r"(?:aber|jedoch|allerdings|daher|deshalb|also|und|doch|dass|weil|da)\b",
    ),
    harmless=(
        r"(?:bitte|(?:über)?prüfen sie|versuchen sie|wenden sie sich|fragen sie|kontaktieren sie|sie können sich|wenn sie|falls sie|für (?:weitere|mehr|nähere))\b",
        r"(?:ich (?:empfehle|helfe|schlage|leite)|gerne|weitere informationen|fragen? (?:sie|bitte))\b",  # ich empfehle
        rf"(?:\w+ ){{0,4}}{_DE} (?:nur |lediglich )?(?:beschreib|behandel|enth[aä]lt|erwähn|nenn|befass|handel|betreff|bezieh)\w*\b",
        r"(?:sie|er|es|dort) (?:\w+ )?(?:nur|lediglich|ausschließlich)\b",  # sie behandeln nur
        r"antwort$",
    ),
    breaks=r"aber|jedoch|allerdings|obwohl|sondern|doch|deshalb|daher",
    joins=r"und|oder",
)
