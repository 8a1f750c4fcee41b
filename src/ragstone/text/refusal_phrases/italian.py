"""Italian."""

from ragstone.text.refusal_phrases.shape import Phrases

_IT = (
    r"(?:document[oi]|documentazione|contest[oi]|test[oi]|pass(?:aggi|aggio|i|o)|font[ei]|estratt[oi]|articol[oi]|informazion[ei]|"
    r"dati|material[ei]|bran[oi])"
)
_IT_SAY = r"(?:menzion|indic|cont[ei]|fornisc|specific|dic|dà|danno|riport|includ|parl|spieg|descriv|rispond|cit|precis|offr|chiari|tratt)"
ITALIAN = Phrases(
    cues=r"\bnon\b|nessun|sconosc|impos|insuf|\bcome\b|quanto",
    declines=(
        r"^(?:io )?non (?:lo )?so(?: .*)?$",  # non lo so
        r"\bnon (?:posso|possiamo|sono in grado di|riesco a|sono riuscit[oa] a|ho potuto) (?:\w+ )?"
        r"(?:rispond|determin|trov|dir|forn|conferm|aiut|dar|stabil|identific)\w*",  # non posso rispondere
        r"\bnon (?:ho|abbiamo|dispongo|trovo|vedo)\b.*\b(?:informazion|trovat|menzion|rispost|dat[oi]|dettagl|nulla|riferiment)",
        rf"\b{_IT}\b.* non {_IT_SAY}\w*\b",  # i documenti non menzionano
        rf"\bnessun[oa]? (?:dei |delle )?(?:\w+ )?{_IT} {_IT_SAY}\w*\b",  # nessuno dei documenti menziona
        rf"\bnon (?:è|sono|viene|vengono|si)\b.*\b(?:presente|presenti|menzionat|indicat|specificat|riportat|trova|disponibil|fornit|"
        rf"contenut|trovano|deduce|può)\w*\b.*\b(?:nel|nei|nella|nelle|negli|dal|dai|dalle|nell)\b.*\b{_IT}\b",  # non è presente nel
        rf"\bnon (?:disponibil|present|menzionat|specificat|indicat|riportat)\w* (?:nel|nei|nella|nelle|negli|nell)\b.*\b{_IT}\b",
        r"\bnon (?:è possibile|si può) (?:rispond|determin|dir|saper|stabil)\w*|\bimpossibile (?:rispond|determin|stabil)\w*",
        r"\bnon (?:ci sono|c'è|vi sono)\b.*\b(?:informazion|dettagl|menzion|rispo[ns]|riferiment)",  # non ci sono informazioni
        r"^(?:nessun risultato|nessuna corrispondenza)\b",  # nessun risultato
        r"\bnessuna (?:informazione|menzione|risposta)\b.*\b(?:disponibile|trovata|fornita|nel|nei)\b",  # nessuna informazione
        r"^(?:informazioni|dati|contesto) insufficient[ei]$",  # informazioni insufficienti
        rf"\b{_IT}\b.*\b(?:è|sono) insufficient[ei]\b",  # le informazioni sono insufficienti
        r"^(?:sconosciut[oa]|non (?:specificat[oa]|disponibile|menzionat[oa]|noto|nota)|nessuna risposta)$",  # sconosciuto
        r"\b(?:come|in quanto) (?:ia|intelligenza artificiale|modello)\b",  # come IA
    ),
    leads=(
        r"(?:mi dispiace|spiacente|scusi|purtroppo|sfortunatamente)\b",
        r"(?:ma|però|tuttavia|quindi|e|perché|poiché|dunque)\b",
        rf"(?:secondo|in base|sulla base|dal|dai|nel|nei)\b[^,]*?\b{_IT}(?: \w+)?(?=,| non\b|$)",
    ),
    harmless=(
        r"(?:per favore|prova|provi|verifica|verifichi|specific[ahi]+|carica|si prega|la prego|consulti|contatti|si rivolga|può (?:contattare|consultare|rivolgersi)|le consiglio|"
        r"ti consiglio|per (?:ulteriori|maggiori|avere)|se (?:può|ha|vuole|desidera|mi))\b",
        rf"(?:\w+ ){{0,4}}{_IT}(?: \w+)? (?:solo |soltanto )?(?:descriv|tratt|parl|menzion|riguard|conten)\w*\b(?! che)",
        r"risposta$",
    ),
    breaks=r"ma|però|tuttavia|sebbene|anche se|quindi",
    joins=r"e|o|né",
)
