"""Spanish."""

from ragstone.text.refusal_phrases.shape import Phrases

_ES = (
    r"(?:documentos?|documentación|contextos?|textos?|pasajes?|fuentes?|extractos?|artículos?|información|datos|material(?:es)?|"
    r"fragmentos?)"
)
_ES_SAY = (
    r"(?:mencion|indic|contien|proporcion|especific|dice|dicen|da|dan|incluy|señal|aport|ofrec|habl|explic|describ|respond|"
    r"aclar|permit|abord|tien|detall|hac)"
)
SPANISH = Phrases(
    cues=r"\bno\b|descon|ningun|\bni\b|\bsin\b|impos|insuf|\bcomo\b",
    declines=(
        r"^(?:yo )?no (?:lo sé|sé(?: (?:la respuesta|si|qué|cuál|cuánt\w+|cuándo|dónde|quién|cómo)\b.*)?$)",  # no lo sé
        r"\bno (?:lo )?sabemos\b|\bdesconozco\b|\blo desconozco\b",  # no lo sabemos
        r"\bno (?:puedo|podemos|pude|he podido|me es posible|podría|soy capaz de|estoy en condiciones de) (?:\w+ )?"
        r"(?:responder|contestar|determinar|encontrar|decir|proporcionar|confirmar|ayudar|dar|saber|ofrecer|precisar)\w*",
        r"\bno (?:tengo|dispongo|hay)\b.*\bpara (?:responder|contestar)\b",  # no tengo alcance para responder
        r"\bno (?:he encontrado|hemos encontrado|encontré|tenemos|disponemos|\w+o) (?:\w+ ){0,3}"
        r"(?:información|datos|mención|respuesta|detalles|referencia|nada)\b",  # no he encontrado información
        rf"\b{_ES}\b.* no (?:se )?{_ES_SAY}\w*\b",  # los documentos no mencionan
        rf"\bningun[oa]? (?:de (?:los|las) )?(?:\w+ )?{_ES} {_ES_SAY}\w*\b",  # ninguno de los documentos menciona
        rf"\bno (?:se |está |es |aparece|figura|viene)(?:\w+ )?.*\b(?:en|por|con|a partir)\b.*\b{_ES}\b",  # no se menciona en el texto
        r"\bno (?:hay|existe|se (?:proporciona|ofrece|da|encuentra|encontró)) (?:\w+ ){0,2}(?:información|datos|mención|respuesta|"
        r"detalles|referencia)\b",  # no hay suficiente información
        r"\b(?:no es posible|es imposible|imposible) (?:responder|determinar|decir|saber|contestar)\b",  # no es posible
        r"^(?:información|datos|contexto) insuficientes?$",  # información insuficiente
        rf"\b{_ES}\b.*\b(?:es|son|resulta) insuficientes?\b",  # la información es insuficiente
        r"^(?:se desconoce|desconocid[oa]|no (?:especificado|disponible|mencionado|consta|aplica)|sin (?:respuesta|información)|ni idea)$",
        r"\bcomo (?:una )?(?:ia|inteligencia artificial|modelo de lenguaje)\b",  # como IA
    ),
    leads=(
        r"(?:lo siento(?: mucho)?|lo lamento|disculpe|perdón|lamentablemente|desafortunadamente|por desgracia)\b",
        r"(?:pero|sin embargo|por (?:lo )?tanto|así que|y|porque|ya que|aunque)\b",
        rf"(?:según|con base en|en base a|basándome en|de acuerdo con|a partir de|en|con)\b[^,]*?\b{_ES}(?: \w+)?(?=,| no\b|$)",
    ),
    harmless=(
        r"(?:por favor|puedo (?:ayudar\w*|intentar)|le (?:recomiendo|sugiero|aconsejo)|te (?:recomiendo|sugiero)|consulte|contacte|póngase|intente|pruebe|verifique|reformule|puede (?:consultar|"
        r"contactar|llamar|preguntar)|para (?:más|obtener|mayor)|si (?:me|puede|necesita|tiene|desea))\b",
        rf"(?:\w+ ){{0,4}}{_ES}(?: \w+)? (?:solo |sólo |únicamente )?(?:describ|trat|habl|mencion|cubr|contien|se refier)\w*\b(?! que)",
        r"respuesta$",
    ),
    breaks=r"pero|sin embargo|aunque|no obstante|sino|así que",
    joins=r"y|o|ni",
)
