"""French."""

from ragstone.text.refusal_phrases.shape import Phrases

_FR = (
    r"(?:documents?|contextes?|textes?|passages?|sources?|extraits?|articles?|informations?|données|éléments|matériel|"
    r"documentation)"
)
_FR_SAY = (
    r"(?:mentionn|indiqu|précis|contien|fourni|donn|di[ts]|évoqu|parl|abord|compren|compor|spécifi|permet|répon|expliqu|"
    r"décri|trait|inclu|offr|fai|signal)"
)
FRENCH = Phrases(
    cues=r"\bne\b|n'|aucun|insuf|inconnu|\bnon\b|impossib|\ben tant\b",
    declines=(
        r"\bje (?:ne |n')(?:le |la |l'|en )?sais (?:pas|rien)\b",  # je ne sais pas
        r"\b(?:je|nous) (?:ne |n')(?:\w+ ){0,2}?(?:peux|peut|pouvons|puis|pourrais)(?: \w+)? (?:pas |malheureusement )*"
        r"(?:répondre|trouver|déterminer|dire|fournir|donner|confirmer|aider|vous|identifier|préciser)\b",  # je ne peux pas
        r"\b(?:je|nous) (?:ne |n')(?:suis|sommes) pas (?:en mesure|capable|sûre?|certaine?)\b",  # pas en mesure de
        r"\b(?:je|nous) (?:ne |n')(?:ai|avons|dispose|disposons|possède|trouve|vois)\b.*\b(?:pas|aucune?|rien)\b.*"
        r"(?:information|mention|réponse|renseignement|élément|trouvé|donnée)",  # je n'ai trouvé aucune information
        r"\b(?:je|nous) (?:ne |n')(?:ai|avons) (?:\w+ )?(?:rien|pas) (?:trouvé|pu (?:trouver|répondre|déterminer))\b",  # je n'ai rien trouvé
        rf"\b{_FR}\b.* (?:ne |n'){_FR_SAY}\w* (?:\w+ )?(?:pas|aucune?|rien|nullement)\b",  # les documents ne mentionnent pas
        rf"(?:n'est|n'a|ne sont|n'ont|n'y est|n'est) (?:pas|nulle part|jamais) (?:\w+ )?(?:mentionn|indiqu|précis|fourni|donn|"
        rf"spécifi|abord|présent|disponible|évoqu|dit)\w*\b.*\b(?:dans|par|à partir)\b.*\b{_FR}\b",  # n'est pas précisé dans
        r"^(?:cette|la|l') ?(?:information|réponse) n'est pas (?:\w+ )?(?:disponible|précisée|mentionnée|fournie|indiquée)$",
        r"\bil n'(?:y a|existe) (?:pas|aucune?)(?: suffisamment| assez)?(?: d'| de )?(?:\w+ )?(?:information|mention|réponse|"
        r"renseignement|détail)",  # il n'y a aucune mention
        r"\b(?:n'est pas possible|impossible) de (?:répondre|déterminer|dire|savoir|trouver)\b",  # impossible de répondre
        rf"\b(?:non|pas) (?:disponible|mentionné|précisé|indiqué|présent|spécifié|fourni)e?s?\b.*\bdans\b.*\b{_FR}\b",  # non disponible
        r"\baucune? (?:information|mention|réponse|indication)\b.*\b(?:dans|disponible|fournie?|trouvée?|donnée)\b",
        r"^(?:informations?|données|contexte) insuffisante?s?$",  # informations insuffisantes
        rf"\b{_FR}\b.*\b(?:est|sont) insuffisante?s?\b",  # le contexte est insuffisant
        r"^(?:inconnue?|non (?:précisé|mentionné|indiqué|spécifié|disponible)e?s?|aucune réponse|aucune idée)$",  # inconnu
        r"\ben tant qu(?:e |')(?:ia|intelligence artificielle|modèle)\b",  # en tant qu'IA
    ),
    leads=(
        r"(?:je suis (?:vraiment )?désolée?|désolée?|excusez-moi|pardon|malheureusement|hélas|je regrette)\b",
        r"(?:mais|cependant|toutefois|donc|et|car|parce que|or)\b",
        rf"(?:d'après|selon|sur la base|à partir|dans|au vu|en fonction)\b[^,]*?\b{_FR}(?: \w+)?(?=,| je\b| il\b|$)",
    ),
    harmless=(
        r"(?:veuillez|(?!vous|chez|assez)\w+ez|n'hésitez pas|merci de|s'il vous plaît|vous (?:pouvez|devriez|pourriez)|"
        r"je vous (?:recommande|conseille|suggère|invite)|pour (?:plus|obtenir|de plus|toute)|si vous)\b",  # veuillez contacter
        rf"(?:\w+ ){{0,4}}{_FR}(?: \w+)? (?:décri|trait|parl|concern|port|abord|mentionn|contien|évoqu|donn)\w*\b(?! que)",
        r"ils? (?:\w+ )?(?:seulement|uniquement)\b",
        r"réponse$",
    ),
    echoes=(rf"^ils? (?:ne |n'){_FR_SAY}\w* (?:pas|aucune?|rien)\b",),  # mais il ne donne pas
    breaks=r"mais|cependant|toutefois|bien que|quoique|donc",
    joins=r"et|ou|ni",
)
