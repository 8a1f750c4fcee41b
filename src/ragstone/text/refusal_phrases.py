"""How answers decline, language by language: plain data for `text.refusals`, one idea a line.

Patterns are regular expressions over folded text (lower case, no accents, no Arabic vowel signs), and are folded the same
way themselves, so they can be written with all their accents. Those that end in `$` must be all of a clause.
"""

from __future__ import annotations

from typing import NamedTuple


class Phrases(NamedTuple):
    """The phrases of one language."""

    # A clause in which one of these is found declines.
    declines: tuple[str, ...]
    # What may stand before the point of a clause: apologies, conjunctions, "based on the documents".
    leads: tuple[str, ...]
    # A clause that begins so adds nothing to the answer: advice, offers, what the documents are about.
    harmless: tuple[str, ...]
    # Without one of these no pattern of `declines` can match: a quick look that spares the long one.
    cues: str
    # What declines only after a clause about the documents: "They describe the fares. | They do not mention dogs."
    echoes: tuple[str, ...] = ()
    # After a comma a new clause begins with these: words of contrast and consequence, and words that join.
    breaks: str = ""
    joins: str = ""


# English
_EN = (
    r"(?:documents?|documentation|contexts?|passages?|texts?|sources?|information|info|materials?|articles?|excerpts?|"
    r"snippets?|knowledge base|search results|(?:provided|given|available|retrieved|supplied) (?:data|results|content)|"
    r"(?:data|results|content) (?:provided|given|available|retrieved|supplied)|paragraphs?|chunks?|manual|webpages?)"
)
_EN_GIVEN = r"(?: (?:provided|given|available|supplied|retrieved|above|here|i have|at hand|you (?:gave|provided)(?: me)?))*"
_EN_NOT = r"(?: not|n't)(?: \w+ly| even| seem to| appear to)?"
_EN_SAY = (
    r"(?:mention|say|state|contain|provide|include|specify|give|cover|address|answer|discuss|indicate|describe|explain|"
    r"list|refer|tell|reveal|clarify|offer|disclose|have|note|define|identify|detail|touch|talk|report|name|show)"
)
_EN_CANNOT = (
    r"(?:cannot|can ?not|can't|could not|couldn't|(?:am |'m |are |'re |was |were )?(?:unable|not able) to|"
    r"(?:will not|won't) be able to)(?: \w+ly)?"
)
_EN_FIND = (
    r"(?:answer|determine|find|provide|tell|say|give|help|locate|confirm|identify|verify|respond|assist|comply|state|see|"
    r"infer|establish|conclude|share|address|offer|ascertain|comment|discuss|be (?:sure|certain))"
)
_EN_STATED = (
    r"(?:mentioned|stated|specified|given|provided|included|addressed|covered|discussed|described|found|available|answered|"
    r"contained|indicated|listed|present|known|disclosed|explained|detailed|recorded|clear|reported|named|part)"
)
_EN_THING = (
    r"(?:information|info|mention|details?|answer|context|data|reference|evidence|indication|record|"
    r"documents?|sources?|facts?)"
)

# "I" at the head of a clause, after no more than "this" or "from what I was given,".
_EN_I = (
    r"^(?:(?:this|that|which),? |(?:based|from|given|with|in|to|at|as|after|having|for|since|because)\b[^,]*, )?"
    r"(?:i|we) ?(?:(?:\w+ly|still|also|just) )*"
)

ENGLISH = Phrases(
    cues=r"n't|\bno\b|\bnot\b|cannot|none|neither|nothing|unable|insuf|inadeq|impossib|little|beyond|outside|must|have to|need to|prefer|unable|unknown|unansw|uncl|uncert|\bn/?a\b|d[uk]n|\bas an?\b",
    declines=(
        rf"{_EN_I}{_EN_CANNOT} {_EN_FIND}\b",  # I cannot answer
        rf"^{_EN_CANNOT} (?:{_EN_FIND}|be (?:answered|determined))\b",  # unable to answer
        rf"{_EN_I}(?:do not|don't)(?: \w+ly)? know\b",  # I don't know
        rf"{_EN_I}(?:do not|don't|did not|didn't)(?: \w+ly)? (?:have|see|find) (?:access|(?:\w+ ){{0,3}}{_EN_THING})\b",
        rf"{_EN_I}(?:have|had|found|find|see|saw) no (?:\w+ )?(?:{_EN_THING}|idea|knowledge)\b",  # I found no mention
        rf"{_EN_I}(?:found|find|see|saw|have) nothing\b",  # I found nothing about
        rf"{_EN_I}(?:am |'m |are )not (?:sure|certain|aware)\b",  # I am not sure
        rf"{_EN_I}(?:am |'m |are )(?:not given|given no|given too little)\b",  # we are not given enough information
        rf"\b{_EN}{_EN_GIVEN} (?:do|does|did){_EN_NOT} {_EN_SAY}\b",  # the documents do not mention
        rf"\b{_EN}\b.*\b(?:they|it) (?:do|does|did){_EN_NOT} {_EN_SAY}\b",  # while the text discusses X, it does not say
        rf"\b(?:none|neither) of the (?:\w+ )*{_EN} {_EN_SAY}",  # none of the passages mention
        rf"\b{_EN}{_EN_GIVEN} \w+ (?:no|nothing|insufficient|not enough)\b",  # the context contains no information
        rf"\b(?:is|are|was|were|has been|have been){_EN_NOT}(?: anywhere)? {_EN_STATED}\b.*\b"
        rf"(?:in|by|within|from|of) (?:\w+ ){{0,4}}{_EN}\b",  # is not stated in the documents
        rf"^(?:this|that|it|(?:the|this|that) (?:\w+ )?(?:answer|information|detail|figure|number|date|name)) "
        rf"(?:is|was|are){_EN_NOT}(?: anywhere)? {_EN_STATED}$",  # this is not mentioned
        rf"\bnot (?:be )?(?:answered|determined|found|inferred|established|derived|deduced|verified|known)\b.*\b"
        rf"(?:from|with|based on|using|in|by) (?:\w+ ){{0,4}}{_EN}\b",  # cannot be determined from the documents
        rf"\b(?:question|problem|answer|this|that) {_EN_CANNOT} be (?:answered|determined)\b",  # this cannot be answered
        r"\b(?:not possible|impossible) to (?:answer|say|tell|know|(?:determine|provide)(?:$|\b.*\b(?:answer|from|based|given|"
        r"with|without|who|what|when|where|which|how|whether)\b))",  # it is not possible to say
        rf"\banswer (?:is|was)(?: not|n't) (?:found|available|given|provided|stated|known|clear|in (?:\w+ ){{0,4}}{_EN})\b",
        r"^the answer (?:is|was|remains) (?:unknown|unclear|uncertain)$",  # the answer is unknown
        r"\bthere (?:is|was|are)(?:n't| not) (?:any |enough |sufficient )(?:\w+ )?"
        r"(?:information|info|mention|details?|answer|context|data|evidence)\b",  # there is not enough information
        r"\bthere (?:is|was|are) (?:no|insufficient) (?:\w+ ){0,2}(?:information|info|mention|details?|answer)\b",
        rf"\bthere (?:is|was|are) no (?:\w+ )?{_EN_THING}\b.*\b(?:in|from|within) (?:\w+ ){{0,4}}{_EN}\b",  # no evidence in
        rf"^no (?:\w+ ){{0,3}}(?:results?|matches|pages|{_EN}) (?:\w+ )?(?:were|was|are|is|could be)? ?(?:found|available)\b",  # no results found
        r"^no (?:\w+ ){0,2}(?:information|info|mention|details?|answer)\b.*\b(?:available|provided|given|found|included|of)\b",
        r"\b(?:insufficient|not enough|too little) (?:\w+ )?(?:information|context|data|evidence|details?) "
        rf"(?:(?:is |was )?(?:provided |given |available )?to|(?:in|from|within) (?:\w+ ){{0,4}}{_EN}\b)",  # … to answer
        rf"\b{_EN}{_EN_GIVEN} (?:is|are|was|were) (?:insufficient|not (?:sufficient|enough|available|provided)|inadequate)\b",
        rf"^nothing (?:in|within) (?:\w+ ){{0,4}}{_EN}\b",  # nothing in the documents
        rf"\b(?:outside|beyond) (?:of )?(?:the scope of (?:\w+ ){{0,4}}{_EN}|my (?:knowledge|ability|capabilities))\b",
        r"^as an? (?:ai|artificial intelligence|language model)\b",  # as an AI language model
        r"\bi (?:must|have to|need to|will have to|would prefer to) (?:decline|refuse|refrain)\b",  # I must decline
        r"\bi (?:will not|won't|would rather not) (?:answer|help|provide|discuss|assist|share)\b",  # I will not answer
        r"^(?:n/?a|none given|unanswerable|unknown|dunno|idk|no comment|no idea)$",  # whole answers of a word or two
        r"^not (?:available|mentioned|stated|specified|given|provided|found|known|applicable|sure|answerable)$",
        r"^(?:no|insufficient|not enough) (?:answer|information|info|data|context|evidence|results?)"
        r"(?: (?:available|found|given|provided|possible))?$",  # not enough information
        rf"^not (?:\w+ )?(?:in|from) (?:\w+ ){{0,4}}{_EN}$",  # not in the documents
        r"\bit is not (?:known|clear|specified|stated)\b(?! for)",  # it is not known
    ),
    leads=(
        r"(?:i(?:'m| am)(?: very| so| truly)? (?:sorry|afraid)|sorry|(?:my )?apologies|i apologi[sz]e)\b(?: for .*)?",
        r"(?:unfortunately|regrettably|sadly|however|therefore|thus|so|but|and|or|also|then|well|yes|no|because|since)\b",
        r"(?:hi|hello|sure|ok|okay|thanks|thank you|good question|great question|of course)\b",
        rf"(?:based on|according to|from|given|in|within|using|after (?:reading|reviewing|checking|searching)) "
        rf"(?:\w+ ){{0,4}}{_EN}{_EN_GIVEN}(?: alone)?(?=,| i\b| we\b| there\b| it\b|$)",  # based on the given passages
    ),
    harmless=(
        r"(?:answer|response|final answer|note|conclusion|a)$",  # labels
        r"(?:please|feel free|let me know|contact|consult|check|try|ensure|make sure|rephrase|specify|upload)\b",  # please contact the office
        r"you (?:may|might|can|could|should|will need to|would need to)(?: \w+)? (?:want|wish|check|contact|consult|ask|"
        r"refer|visit|try|need|look|call|reach|provide|search|verify)\b",  # you may want to check
        r"(?:i (?:can|could|will|would|may|might) (?:be able to )?(?:help|look|try|answer)|i(?:'d| would) (?:be (?:happy|glad)"
        r"|recommend|suggest|advise|need|like)|i (?:recommend|suggest|hope|advise))\b",  # I would be happy to help
        r"if (?:you|there) (?:can|could|have|need|share|provide|give|tell|send|want|would|is|are|let)\b",  # if you share more
        r"for (?:more|further|additional|accurate|up-to-date|the latest|details|help)\b",  # for more information
        r"(?:more|additional|further) (?:information|context|details|documents)\b",  # more context is needed
        rf"(?:while |although |though |whereas )?(?:\w+ ){{0,4}}{_EN}{_EN_GIVEN} (?:only |just |mainly |primarily |mostly )?"
        r"(?:discuss|describe|mention|cover|contain|provide|focus|deal|talk|refer|relate|include|concern|list|give|address|"
        r"is|are|was|were|offer|seem|appear|outline|explain|touch|has|have)(?:e?s)?\b(?! that)",  # the documents describe
        r"(?:they|it|these|this) (?:only|just|merely|mainly|primarily|instead)\b",  # they only cover
        r"(?:they|it) (?:discuss|describe|cover|mention|talk|focus|deal|are about|is about)(?:e?s)?\b(?! that| \d)",
    ),
    echoes=(rf"^(?:they |it |which )?(?:do|does|did){_EN_NOT} {_EN_SAY}\b",),  # but it does not give
    breaks=r"but|however|although|though|yet|nevertheless|so|whereas|while",
    joins=r"and|or|nor",
)

# Chinese, simplified and traditional
_ZH = r"(?:知识库|知識庫|文档|文件|文本|文中|文章|资料|資料|材料|上下文|段落|信息|資訊|内容|內容|原文|语料|檔案|检索结果)"
CHINESE = Phrases(
    cues=r"[不无無没沒未难難缺作拒超]",
    declines=(
        r"(?:信息|资料|資料|資訊|材料|内容|上下文)(?:还|并|仍|都)?(?:不足|不够|不夠|不充分|有限)",  # 信息不足: RGB's own words
        r"(?:没有|沒有|缺乏|缺少|无|無)(?:足够|足夠|充分|充足|任何|更多)?的?(?:相关|相關|有关|有關)?的?(?:信息|资料|資料|資訊|依据|线索)",
        r"(?:无法|無法|不能|难以|難以|没法|没办法|不可能)[^，]*(?:回答|作答|答复|确定|確定|判断|判斷|得知|获知|知道|提供|给出|得出|找到|确认|確認|推断|推知)",
        r"(?:我|我们|我們)(?:也|并|還|还|真的)?(?:不知道|不清楚|不确定|不確定|不了解|不太清楚)",  # I do not know
        r"^(?:不知道|不清楚|不确定|不確定|不详|不詳|未知|不明|无可奉告|无答案|無答案|没有答案)$",  # unknown
        rf"{_ZH}[^，]*(?:没有|沒有|无|無|缺乏)[^，]*(?:内容|內容|信息|資訊|答案|说明|說明|记载|資料|资料)",  # 文档中没有相关内容
        rf"{_ZH}[^，]*(?:没有|沒有|未|并未|並未|未能|没)(?:有|曾|明确|具体|直接|明確)*"
        r"(?:提到|提及|说明|說明|提供|包含|涉及|给出|給出|指出|记载|記載|介绍|介紹|写明|写|回答|描述|讨论|列出|说|提)",  # the text does not mention
        rf"(?:没有|沒有|未|未能|没)(?:能|在)?[^，]*{_ZH}[^，]*(?:找到|发现|發現|看到|提到|提及)",  # not found in the documents
        r"(?:我|我们|我們)?(?:没有|沒有|未|未能|没|没能)(?:找到|查到|发现|發現|检索到)[^，]*(?:信息|资料|資料|資訊|答案|内容|记录|文档|文件)",
        r"作为(?:一个|一名)?(?:人工智能|ai|语言模型)",  # as an AI
        r"(?:拒绝|不便|不方便)(?:回答|透露)",  # decline to answer
        r"超出(?:了)?(?:我的|文档的|资料的)?(?:知识|能力)?范围",  # beyond my knowledge
    ),
    leads=(
        r"(?:非常|很|十分)?(?:抱歉|对不起|對不起|遗憾|遺憾|不好意思)",
        r"(?:因此|所以|但是|但|不过|不過|然而|可是|而且|并且|目前|由于|因为)",
        rf"(?:根据|根據|基于|从|從|在|依据|依據|就)[^，]*?{_ZH}(?:来看|来说|中|里|內|内|看)?(?=，|我|无|無|不|没|沒|未|$)",
    ),
    harmless=(
        r"(?:请|請|建议|建議|如果|如需|若|您可以|你可以|希望|欢迎)",  # please, we suggest, if you
        rf"[^，]*{_ZH}[^，]*(?:只|仅|僅|主要|都是)[^，]*(?:介绍|介紹|提到|提及|说明|說明|讨论|描述|涉及|包含|讲|關於|关于)",
        r"(?:需要|还需要)(?:更多|进一步)",  # more is needed
        r"(?:答案|回答|答)$",  # labels
    ),
    echoes=(r"^(?:也|并|而)?(?:没有|沒有|未|并未|並未)(?:明确|具体)?(?:提到|提及|说明|說明|提供|给出|介绍|涉及)",),  # without a subject
)

# German
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

# French
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
        r"\b(?:je|nous) (?:ne |n')(?:ai|avons) (?:\w+ )?(?:rien|pas) trouvé\b",  # je n'ai rien trouvé
        rf"\b{_FR}\b.* (?:ne |n'){_FR_SAY}\w* (?:\w+ )?(?:pas|aucune?|rien|nullement)\b",  # les documents ne mentionnent pas
        rf"(?:n'est|n'a|ne sont|n'ont|n'y est|n'est) (?:pas|nulle part|jamais) (?:\w+ )?(?:mentionn|indiqu|précis|fourni|donn|"
        rf"spécifi|abord|présent|disponible|évoqu|dit)\w*\b.*\b(?:dans|par|à partir)\b.*\b{_FR}\b",  # n'est pas précisé dans
        r"^(?:cette|la|l') ?(?:information|réponse) n'est pas (?:\w+ )?(?:disponible|précisée|mentionnée|fournie|indiquée)$",
        r"\bil n'(?:y a|existe) (?:pas|aucune?)(?: suffisamment| assez)?(?: d'| de )?(?:\w+ )?(?:information|mention|réponse|"
        r"renseignement|détail)",  # il n'y a aucune mention
        r"\b(?:n'est pas possible|impossible) de (?:répondre|déterminer|dire|savoir|trouver)\b",  # impossible de répondre
        rf"\b(?:non|pas) (?:disponible|mentionné|précisé|indiqué|présent|spécifié|fourni)e?s?\b.*\bdans\b.*\b{_FR}\b",  # non disponible
        rf"\baucune? (?:information|mention|réponse|indication)\b.*\b(?:dans|disponible|fournie?|trouvée?|donnée)\b",
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

# Spanish
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

# Italian
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
        r"\bnon (?:ci sono|c'è|vi sono) (?:\w+ ){0,2}(?:informazion|dettagl|menzion|rispost|riferiment)",  # non ci sono informazioni
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

# Portuguese
_PT = (
    r"(?:documentos?|documentação|contextos?|textos?|passagens?|trechos?|fontes?|artigos?|informaç(?:ão|ões)|dados|material|materiais)"
)
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

# Russian
_RU = r"(?:баз\w*(?: знаний)?|документ\w*|контекст\w*|текст\w*|источник\w*|фрагмент\w*|отрыв\w*|материал\w*|стать\w*|информаци\w*|данн\w*|сведени\w*)"
RUSSIAN = Phrases(
    cues=r"\bне|\bнет|отсут|нельзя|без|затруд|ничего|\bкак\b",
    declines=(
        r"^(?:я )?(?:этого |об этом )?не знаю\b",  # я не знаю
        r"\b(?:я|мы) (?:\w+ )*не (?:могу|можем|смог|смогла|смогли|в состоянии) (?:\w+ )?(?:ответить|определить|найти|сказать|дать|"
        r"предоставить|помочь|подтвердить|установить)\b",  # я не могу ответить
        r"^не (?:могу|можем) (?:\w+ )?(?:ответить|сказать|определить)\b",  # не могу ответить
        r"\b(?:мне|нам) не (?:удалось|известно)\b",  # мне не удалось найти
        r"\bне (?:нашёл|нашла|нашли|нашел|нахожу|вижу) (?:\w+ ){0,2}(?:ответ|информаци|данн|сведени|упоминани)",  # не нашёл ответа
        r"\b(?:у меня|у нас) нет\b.*(?:информаци|данн|сведени|ответ)",  # у меня нет данных
        rf"\b{_RU}.* не (?:\w+ )?(?:содерж|упомина|указан|указыва|сказан|говор|привод|сообща|описыва|упомян|найден|отвеча|да[её]|раскры)\w*",
        rf"\b{_RU} (?:\w+ ){{0,4}}(?:нет|отсутству\w*|ничего не)\b",  # в тексте нет информации
        rf"\b(?:не (?:содерж|упомина|указан|указыва|сказан|найден|упомян)\w*|нет|отсутству\w*)\b.*\bв (?:\w+ ){{0,3}}{_RU}$",  # не указано в тексте
        r"\b(?:недостаточно|не хватает|нет) (?:\w+ )?(?:информации|данных|сведений|записей|ответа)\b",  # недостаточно информации
        r"\b(?:невозможно|нельзя|не представляется возможным) (?:\w+ )?(?:ответить|определить|установить|сказать)\b",  # невозможно
        r"^(?:неизвестно|нет (?:ответа|данных|информации)|не указано|без понятия|затрудняюсь ответить)$",  # неизвестно
        r"\bкак (?:ии|искусственный интеллект|языковая модель)\b",  # как ИИ
    ),
    leads=(
        r"(?:к сожалению|извините|простите|прошу прощения|увы)\b",
        r"(?:но|однако|поэтому|и|а|так как|потому что)\b",
        rf"(?:на основании|на основе|согласно|исходя из|судя по|по|из)\b[^,]*?{_RU}(?=,| я\b| не|$)",
    ),
    harmless=(
        r"(?:пожалуйста|проверьте|переформулируйте|обратитесь|уточните|рекомендую|советую|попробуйте|вы можете|для (?:получения|более)|если (?:вы|у вас))\b",
        rf"(?:\w+ ){{0,3}}{_RU} (?:только |лишь )?(?:описыва|говор|содерж|посвящ|касает|упомина|рассказыва)\w*\b(?!,? что)",
        r"ответ$",
    ),
    breaks=r"но|однако|хотя|зато|поэтому",
    joins=r"и|а|или",
)

# Japanese
_JA = r"(?:文書|文脈|文章|資料|テキスト|コンテキスト|情報|記事|ドキュメント|本文|内容)"
JAPANESE = Phrases(
    cues=r"ませ|ない|ず|不|なし|なく|かね|おら|足り|て|未",
    declines=(
        r"(?:わかり|分かり|判り|存じ上げ|存じ|知り)(?:ません|かねます)|(?:わから|分から|知ら)ない",  # わかりません
        r"(?:回答|お答え|答え|判断|特定|確認|断定|提供|対応)(?:が|は|を|に|する|すること)*(?:は|が)?(?:でき(?:ません|ない|ず|かね)|出来(?:ません|ない)|不可能|いたしかねます)",
        r"(?:答え|教え|お伝え|申し上げ)(?:る|し)?(?:ことが|ことは)?(?:られません|られない|できません|かねます)",  # 答えられません
        rf"{_JA}(?:に|で|の|か|から|中|内|は|が|も|を|と|、|[一-龥ぁ-んァ-ンー])*?(?:記載|言及|記述|説明|情報|回答|答え)(?:が|は|も)?"
        r"(?:ありません|ない|ございません|なく|されていません|されていない|含まれていません|含まれていない|含まれておらず|見つかりません|見当たりません)",
        r"(?:記載|言及|記述|情報)(?:が|は|も)?(?:ありません|ございません|されていません|されていない|されておらず|見つかりません|見当たりません|含まれていません|含まれていない)",
        rf"{_JA}.*(?:書かれて|載って|触れられて|述べられて|示されて|説明されて|含まれて)(?:いません|いない|おらず|おりません|いなかった)",  # 書かれていません
        r"(?:書かれて|載って|触れられて|述べられて)(?:いません|いない|おりません)$",
        r"(?:情報|資料|材料|データ)(?:が|は)?(?:不足|不十分|足り(?:ません|ない)|十分では)",  # 情報が不足
        rf"{_JA}.*(?:記載|言及|情報|該当)(?:が|は)?(?:なし|無し|無い)$",  # 資料に記載なし
        r"^(?:不明|未詳|回答不能|答えなし|情報なし|該当なし)(?:です)?$",  # 不明です
        r"aiとして|言語モデルとして",  # AIとして
    ),
    leads=(
        r"(?:大変)?(?:申し訳(?:ありません|ございません|ない)|すみません|恐れ入ります|残念)(?:です)?(?:が|けど|けれど|ながら)?",
        r"(?:しかし|ただし|そのため|したがって|なお)",
        rf"(?:提供|与え)?(?:された|られた)?{_JA}(?:に(?:よると|基づくと|よれば)|から(?:は)?)(?=、|$)",
    ),
    harmless=(
        r"(?:詳しくは|詳細は|.*(?:ください|下さい|いただけますか|お手伝いします|お手伝いいたします)$)",  # お問い合わせください
        rf"{_JA}.*(?:のみ|だけ|しか)",  # 夏の時刻表のみ
        r"(?:もし|追加の|さらに詳しい)",
        r"(?:回答|答え)$",
    ),
)

# Arabic
_AR = r"(?:ال)?(?:وثيقة|وثائق|مستندات?|سياق|نص|نصوص|مصادر|مقاطع|معلومات|معلومة|بيانات|مقال|محتوى)"
ARABIC = Phrases(
    cues=r"لا|لم|لن|ليس|غير|يتعذر|تتعذر|يستحيل|ناقص|مجهول",
    declines=(
        r"\bلا (?:أعرف|أعلم|أدري|نعرف|نعلم)\b",  # لا أعرف
        r"\b(?:لا|لم|لن) (?:أستطيع|يمكنني|أتمكن|نستطيع|يمكننا|أجد|أعثر|نجد|أملك|نملك)\b.*(?:إجاب|أجيب|تحديد|معرفة|معلومات|معلومة|مساعد|تقديم|إيجاد|"
        r"العثور|ذكر|أي شيء|قول|تأكيد)",  # لا يمكنني الإجابة
        rf"\b(?:لا|لم|ولا|ولم) (?:تذكر|يذكر|تحتوي|يحتوي|تتضمن|يتضمن|توضح|يوضح|تشير|يشير|تحدد|يحدد|توفر|يوفر|تقدم|يقدم|تتناول|يتناول|يرد|ترد)\b"
        rf".*{_AR}",  # لا تذكر الوثائق
        rf"{_AR}.*\b(?:لا|لم|ولا|ولم) (?:تذكر|يذكر|تحتوي|يحتوي|تتضمن|يتضمن|توضح|يوضح|تشير|يشير|تحدد|يحدد|توفر|يوفر|تقدم|يقدم|يرد|ترد)\b",
        r"\b(?:لا|لم) (?:تتوفر|يتوفر|تتوافر)\b.*(?:معلومات|معلومة|إجابة|بيانات|تفاصيل)",  # لا تتوفر معلومات
        r"\b(?:لا توجد|لا يوجد|ليس لدي|ليست لدي|ليس هناك|ليست هناك) (?:\w+ )?(?:معلومات|معلومة|إجابة|ذكر|بيانات|تفاصيل|إشارة|أي معلومات)",
        r"\b(?:لا يمكن|يتعذر|من غير الممكن|يستحيل|تتعذر) (?:\w+ )?(?:الإجابة|تحديد|معرفة|التحديد|الجزم)",  # لا يمكن الإجابة
        rf"{_AR}(?: \w+)* (?:غير (?:كاف|متوفر|متاح|مذكور|موجود|محدد)|ناقص)\w*",  # المعلومات غير كافية
        r"^(?:غير (?:معروف|مذكور|محدد|متوفر|معلوم)\w*|مجهول|لا إجابة|لا معلومات)$",  # غير معروف
    ),
    leads=(
        r"(?:عذرا|(?:أنا )?آسف|أعتذر|نعتذر|للأسف|معذرة|مع الأسف)\b",
        r"(?:لكن|ولكن|لذلك|لذا|وبالتالي|إلا أن|غير أن|و)\b",
        rf"(?:بناء على|وفقا|استنادا إلى|حسب|من خلال|في)\b[^،,]*?{_AR}(?: \w+)?$",
    ),
    harmless=(
        r"(?:يرجى|حاول|تأكد|أعد|الرجاء|من فضلك|يمكنك|أنصح|إذا (?:كان|كنت|أردت)|للمزيد|لمزيد)\b",
        rf"{_AR}(?: \w+)? (?:فقط |تتحدث|يتحدث|تتناول|يتناول|تصف|يصف|تقتصر|يقتصر)",
        r"(?:الإجابة|الجواب)$",
    ),
)

# Hindi
_HI = r"(?:दस्तावेज़\S*|दस्तावेज\S*|संदर्भ\S*|सन्दर्भ\S*|पाठ|लेख\S*|स्रोत\S*|अनुच्छेद\S*|जानकारी|सामग्री|सूचना|गद्यांश)"
_HI_WORDS = r"[^।,]*"
HINDI = Phrases(
    cues=r"नहीं|अपर्याप्त|अनुपलब्ध|अज्ञात|नाकाफ़ी",
    declines=(
        r"(?:मुझे|हमें)[^।,]*नहीं (?:पता|मालूम|मिल|पाया)",  # मुझे नहीं पता
        r"(?:मुझे|हमें)[^।,]*(?:पता|मालूम|जानकारी) नहीं",  # मुझे जानकारी नहीं है
        r"मैं[^।,]*नहीं (?:दे|कर|बता|जानता|जानती|ढूंढ|ढूँढ|खोज)",  # मैं उत्तर नहीं दे सकता
        rf"{_HI}{_HI_WORDS}(?:उल्लेख|ज़िक्र|जिक्र|जानकारी|विवरण|वर्णन|उत्तर|जवाब){_HI_WORDS}(?:नहीं|अनुपलब्ध)",  # उल्लेख नहीं है
        rf"{_HI}{_HI_WORDS}नहीं (?:बताया|दिया|दी|कहा|मिल|लिखा|है)",  # कुछ नहीं बताया गया
        r"(?:पर्याप्त|कोई|आवश्यक) (?:\S+ )?(?:जानकारी|सूचना)[^।,]*(?:नहीं|उपलब्ध नहीं)",  # पर्याप्त जानकारी नहीं
        r"(?:जानकारी|सूचना)[^।,]*(?:अपर्याप्त|नाकाफ़ी|उपलब्ध नहीं|पर्याप्त नहीं)",  # जानकारी अपर्याप्त है
        r"(?:उत्तर|जवाब|निर्धारित|निर्धारण)[^।,]*(?:संभव नहीं|सम्भव नहीं|नहीं दिया जा सकता|नहीं किया जा सकता)",  # संभव नहीं
        r"^(?:अज्ञात|पता नहीं|मालूम नहीं|उल्लेख नहीं|उपलब्ध नहीं)(?: है)?$",  # पता नहीं
    ),
    leads=(
        r"(?:क्षमा करें|क्षमा कीजिए|माफ़ करें|माफ़ कीजिए|खेद है|दुर्भाग्य से|दुर्भाग्यवश)(?: कि)?",
        r"(?:लेकिन|परंतु|परन्तु|किंतु|मगर|इसलिए|और|क्योंकि)(?=\s)",
    ),
    harmless=(
        r"(?:कृपया|आप[^।,]*सकते हैं|यदि आप|अगर आप|अधिक जानकारी)",  # कृपया संपर्क करें
        rf"{_HI}{_HI_WORDS}(?:केवल|सिर्फ़|सिर्फ)",  # केवल वर्णन करते हैं
        r"उत्तर$",
    ),
    breaks=r"लेकिन|परंतु|परन्तु|किंतु|मगर|इसलिए|हालांकि|हालाँकि",
    joins=r"और|या",
)

# Who says that the question itself is not answered has declined for good: what follows does not answer it either.
ANSWERING = r"answer|respond|help|assist|beantwort|répond|respon[ds]|rispo[ns]|ответ|回答|作答|答复|答え|إجاب|أجيب|उत्तर|जवाब"
# … unless it begins with one of these.
CONTRAST = (
    r"but|however|nevertheless|still|that said|yet|aber|jedoch|allerdings|dennoch|mais|cependant|toutefois|néanmoins|"
    r"pero|sin embargo|no obstante|ma|però|tuttavia|mas|porém|no entanto|contudo|но|однако|тем не менее|但|不过|不過|然而|可是|"
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
