"""English."""

from ragstone.text.refusal_phrases.shape import Phrases

_EN = (
    r"(?:documents?|documentation|contexts?|passages?|texts?|sources?|information|info|materials?|articles?|excerpts?|"
    r"snippets?|knowledge base|search results|(?:provided|given|available|retrieved|supplied) (?:data|results|content)|"
    r"(?:data|results|content) (?:provided|given|available|retrieved|supplied)|paragraphs?|chunks?|manual|webpages?)"
)
_EN_GIVEN = (
    r"(?: (?:provided|given|available|supplied|retrieved|above|here|i have|at hand|you (?:gave|provided)(?: me)?))*"
)
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
        rf"^{_EN_CANNOT} (?:answer|determine|say|tell|respond|help|assist|comply|be (?:answered|determined)|"
        rf"(?:find|provide|give|locate) (?:\w+ ){{0,3}}{_EN_THING})\b",  # unable to answer
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
        rf"^it {_EN_CANNOT} be (?:answered|determined|inferred|established)\b",  # it cannot be determined
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
        r"\b(?:insufficient|not enough|too little) (?:\w+ )?(?:information|context|data|details?) "
        rf"(?:(?:is |was )?(?:provided |given |available )?to|(?:in|from|within) (?:\w+ ){{0,4}}{_EN}\b)",  # … to answer
        rf"\b{_EN}{_EN_GIVEN} (?:is|are|was|were) (?:insufficient|not (?:sufficient|enough|available|provided)|inadequate)\b",
        rf"^nothing (?:in|within) (?:\w+ ){{0,4}}{_EN}\b",  # nothing in the documents
        rf"\b(?:outside|beyond) (?:of )?(?:the scope of (?:\w+ ){{0,4}}{_EN}|my (?:scope|knowledge|ability|expertise))\b",  # beyond my knowledge
        r"^as an? (?:ai|artificial intelligence|language model)\b",  # as an AI language model
        r"\bi (?:must|have to|need to|will have to|would prefer to) (?:decline|refuse|refrain)\b",  # I must decline
        r"\bi (?:will not|won't|would rather not) (?:answer|help|provide|discuss|assist|share)\b",  # I will not answer
        r"^(?:n/?a|none given|unanswerable|unknown|dunno|idk|no comment|no idea)$",  # whole answers of a word or two
        r"^not (?:available|mentioned|stated|specified|given|provided|found|known|applicable|sure|answerable)$",
        r"^(?:no|insufficient|not enough) (?:answer|information|info|data|context|evidence|results?)"
        r"(?: (?:available|found|given|provided|possible))?$",  # not enough information
        rf"^not (?:\w+ )?(?:in|from) (?:\w+ ){{0,4}}{_EN}$",  # not in the documents
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
