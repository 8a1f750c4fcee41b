"""Portuguese."""

from ragstone.text.refusal_phrases.shape import Phrases

_PT = r"(?:documentos?|documentação|contextos?|textos?|passagens?|trechos?|fontes?|artigos?|informaç(?:ão|ões)|dados|material|materiais)"
_PT_SAY = r"(?:mencion|indic|cont[eé]m|fornec|especific|diz|dizem|dá|dão|inclu|traz|trazem|fala|explic|descrev|respond|cita|precis|oferec|abord)"
PORTUGUESE = Phrases(
    cues=r"\bnão\b|nenhum|desconh|sem\b|impos|insuf|\bcomo\b",
    declines=(
        r"^(?:eu )?não (?:o )?sei(?: .*)?$",  # não sei
        r"\bnão (?:posso|podemos|consigo|conseguimos|consegui|sou capaz de|pude|foi possível|é possível) (?:\w+ )?"
        r"(?:respond|determin|encontr|dizer|fornec|confirm|ajud|dar|saber|identific|localiz)\w*",  # não posso responder
        r"\bnão (?:encontrei|tenho|temos|encontramos|disponho|vejo|há|existem?|foram encontradas?)\b.*\b(?:informaç|menção|resposta|"
        r"dados|detalhes|referência|nada)",  # não encontrei informações
        rf"\b{_PT}\b.* não (?:se )?{_PT_SAY}\w*\b",  # os documentos não mencionam
        rf"\bnenhum[a]? (?:dos |das )?(?:\w+ )?{_PT} {_PT_SAY}\w*\b",  # nenhum dos documentos menciona
        rf"\bnão (?:é|são|está|estão|foi|consta|se encontra|aparece)\b.*\b(?:no|nos|na|nas|pelo|pelos|a partir do)\b.*\b{_PT}\b",
        r"^(?:informaç(?:ão|ões)|dados|contexto) insuficientes?$",  # informações insuficientes
        rf"\b{_PT}\b.*\b(?:é|são) insuficientes?\b",  # as informações são insuficientes
        r"\bimpossível (?:respond|determin|saber|dizer)\w*",  # impossível responder
        r"^(?:desconhecid[oa]|não (?:especificad[oa]|disponível|mencionad[oa]|informad[oa])|sem (?:resposta|informação))$",
        r"\bcomo (?:uma )?(?:ia|inteligência artificial|modelo de linguagem)\b",  # como IA
    ),
    leads=(
        r"(?:sinto muito|lamento|desculpe|peço desculpas?|infelizmente)\b",
        r"(?:mas|porém|no entanto|contudo|portanto|então|e|porque|pois)\b",
        rf"(?:segundo|com base|de acordo com|a partir|no|nos|na|nas)\b[^,]*?\b{_PT}(?: \w+)?(?=,| não\b|$)",
    ),
    harmless=(
        r"(?:por favor|posso (?:te |lhe |o )?ajudar|tente|verifique|reformule|consulte|contate|contacte|entre em contato|recomendo|sugiro|você pode|pode (?:contactar|consultar)|"
        r"para (?:mais|obter|questões|outras)|se (?:você|puder|quiser|tiver))\b",
        rf"(?:\w+ ){{0,4}}{_PT}(?: \w+)? (?:só |apenas |somente )?(?:descrev|trata|fala|mencion|cobre|cont[eé]m)\w*\b(?! que)",
        r"resposta$",
    ),
    breaks=r"mas|porém|no entanto|contudo|embora|portanto",
    joins=r"e|ou|nem",
)
