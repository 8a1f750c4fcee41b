"""Replies as models write them, and what must come of each: the object, or the fault."""

from ragstone.llm.reading import Fault
from ragstone.llm.replies import (
    ClaimsReply,
    ContextVerdictsReply,
    NeededSentencesReply,
    QuestionsReply,
    TripletsReply,
    VerdictsReply,
)

C, V, N, Q, T, X = (
    ClaimsReply,
    VerdictsReply,
    NeededSentencesReply,
    QuestionsReply,
    TripletsReply,
    ContextVerdictsReply,
)


def c(*claims):
    return {"claims": list(claims)}


def v(*words):
    return {"verdicts": [{"claim": number, "verdict": word} for number, word in enumerate(words, start=1)]}


def t(*triplets):
    return {"triplets": [dict(zip(("subject", "relation", "object"), triplet, strict=True)) for triplet in triplets]}


ONE = {"verdicts": [{"claim": 1, "supported_by": [1, 3], "contradicted_by": [], "together": "entailment"}]}
E, NE, CO = "entailment", "neutral", "contradiction"

# (name, kind, reply, what must come of it)
REPLIES = [
    # As asked.
    ("plain", C, '{"claims": ["a", "b"]}', c("a", "b")),
    ("none", C, '{"claims": []}', c()),
    (
        "other scripts",
        C,
        '{"claims": ["Лодка уходит в 9.", "船は九時に出る。"]}',
        c("Лодка уходит в 9.", "船は九時に出る。"),
    ),
    ("escapes", C, '{"claims": ["caf\\u00e9 \\ud83d\\ude00"]}', c("café 😀")),
    ("tags in a string", C, '{"claims": ["<think> is a tag, </think> too"]}', c("<think> is a tag, </think> too")),
    # Words around.
    ("prose before", C, 'Sure! Here are the claims: {"claims": ["a"]}', c("a")),
    ("prose behind", C, '{"claims": ["a"]}\n\nLet me know if you need more.', c("a")),
    ("fence", C, '```json\n{"claims": ["a"]}\n```', c("a")),
    ("fence without language", C, '```\n{"claims": ["a"]}\n```', c("a")),
    ("fence in prose", C, 'Here:\n```json\n{"claims": ["a"]}\n```\nDone.', c("a")),
    ("tilde fence", C, '~~~json\n{"claims": ["a"]}\n~~~', c("a")),
    ("fence never closed", C, '```json\n{"claims": ["a"]}', c("a")),
    ("German prose", C, 'Gerne, hier ist das Ergebnis: {"claims": ["a"]} Viel Erfolg!', c("a")),
    ("Chinese prose", C, '好的，以下是结果：{"claims": ["船九点开。"]}', c("船九点开。")),
    ("sources in prose", N, 'From [1] and [4] I conclude {"needed": [2]} because of [3].', {"needed": [2]}),
    ("braces in prose", C, 'With {placeholders} filled: {"claims": ["a"]}', c("a")),
    ("byte order mark", C, '\ufeff{"claims": ["a"]}', c("a")),
    ("end of turn", C, '{"claims": ["a"]}<|im_end|>', c("a")),
    (
        "channels",
        C,
        '<|channel|>analysis<|message|>{"claims": ["x"]}<|end|><|channel|>final<|message|>{"claims": ["a"]}',
        c("a"),
    ),
    ("fence inside a string", C, 'So: {"claims": ["use ```json``` here"]}', c("use ```json``` here")),
    # Thoughts.
    ("thoughts", C, '<think>Maybe {"claims": ["x"]}?</think>{"claims": ["a"]}', c("a")),
    ("thinking", C, '<thinking>hm</thinking>\n\n```json\n{"claims": ["a"]}\n```', c("a")),
    ("thoughts without begin", C, 'Maybe {"claims": ["x"]}\n</think>\n{"claims": ["a"]}', c("a")),
    ("thoughts never end, object last", C, '<think>Let me see.\n\n{"claims": ["a"]}', c("a")),
    ("thoughts never end", C, '<think>Let me see, {"claims": ["a"]} would be wrong because', Fault.CUT_OFF),
    ("thoughts and nothing", C, "<think>Let me see.</think>", Fault.EMPTY),
    ("only thoughts", C, "<think>Let me see. The first claim", Fault.CUT_OFF),
    ("square thoughts", C, '[THINK]one[/THINK]{"claims": ["a"]}', c("a")),
    ("tags in a string, prose", C, 'Ok: {"claims": ["<think>x</think> y"]}', c("<think>x</think> y")),
    # Not quite JSON.
    ("trailing comma in list", C, '{"claims": ["a", "b",]}', c("a", "b")),
    ("trailing comma in object", C, '{"claims": ["a"],}', c("a")),
    ("single quotes", C, "{'claims': ['a', 'b']}", c("a", "b")),
    ("apostrophe", C, "{'claims': ['It's late']}", c("It's late")),
    ("Python quotes", C, "{'claims': [\"It's late\", 'b']}", c("It's late", "b")),
    (
        "Python literals",
        Q,
        "{'questions': ['When?'], 'noncommittal': False}",
        {"questions": ["When?"], "noncommittal": False},
    ),
    (
        "None for a list",
        X,
        '{"verdicts": [{"claim": 1, "supported_by": [1, 3], "contradicted_by": None, "together": "entailment"}]}',
        ONE,
    ),
    (
        "null for a list",
        X,
        '{"verdicts": [{"claim": 1, "supported_by": [1, 3], "contradicted_by": null, "together": "entailment"}]}',
        ONE,
    ),
    ("line comment", C, '{"claims": ["a", // the first\n"b"]}', c("a", "b")),
    ("block comment", C, '{"claims": [/* two */ "a", "b"]}', c("a", "b")),
    ("hash comment", C, '{"claims": ["a"] # all\n}', c("a")),
    ("address in a string", C, "{'claims': ['see https://x.org/#a']}", c("see https://x.org/#a")),
    ("raw newline", C, '{"claims": ["a\nb"]}', c("a\nb")),
    ("raw tab", C, '{"claims": ["a\tb"]}', c("a\tb")),
    ("inner quotes", C, '{"claims": ["He said "yes" loudly", "b"]}', c('He said "yes" loudly', "b")),
    ("inner quotes at the end", C, '{"claims": ["They call it "the gem""]}', c('They call it "the gem"')),
    ("smart quotes", C, "{“claims”: [“a”, “b”]}", c("a", "b")),
    ("full-width marks", C, "{“claims”：[“a”，“b”]}", c("a", "b")),
    ("unquoted key", C, '{claims: ["a"]}', c("a")),
    ("unquoted verdict", V, "{verdicts: [{claim: 1, verdict: neutral}]}", v(NE)),
    (
        "missing comma between objects",
        V,
        '{"verdicts": [{"claim": 1, "verdict": "neutral"} {"claim": 2, "verdict": "neutral"}]}',
        v(NE, NE),
    ),
    ("HTML", C, "{&quot;claims&quot;: [&quot;a &amp; b&quot;]}", c("a & b")),
    ("encoded twice", C, '"{\\"claims\\": [\\"a\\"]}"', c("a")),
    (
        "Markdown escape",
        X,
        '{"verdicts": [{"claim": 1, "supported\\_by": [1, 3], "contradicted\\_by": [], "together": "entailment"}]}',
        ONE,
    ),
    ("invalid escape", C, '{"claims": ["\\(x\\) holds"]}', c("\\(x\\) holds")),
    ("half a character", C, '{"claims": ["a\\ud800b"]}', c("a\ufffdb")),
    ("one key twice, same", C, '{"claims": ["a"], "claims": ["a"]}', c("a")),
    # Not quite the shape.
    ("case of keys", C, '{"Claims": ["a"]}', c("a")),
    ("singular", C, '{"claim": ["a"]}', c("a")),
    (
        "camel case",
        X,
        '{"verdicts": [{"claim": 1, "supportedBy": [1, 3], "contradictedBy": [], "together": "entailment"}]}',
        ONE,
    ),
    (
        "spaces in keys",
        X,
        '{"verdicts": [{"claim": 1, "supported by": [1, 3], "contradicted by": [], "together": "entailment"}]}',
        ONE,
    ),
    ("longer key", N, '{"needed_sentences": [1]}', {"needed": [1]}),
    ("bare list", C, '["a", "b"]', c("a", "b")),
    ("bare list in a fence", C, 'The claims are:\n```json\n["a", "b"]\n```', c("a", "b")),
    ("no braces", C, '"claims": ["a", "b"]', c("a", "b")),
    ("list of verdicts", V, '[{"claim": 1, "verdict": "neutral"}]', v(NE)),
    ("JSON Lines", V, '{"claim": 1, "verdict": "neutral"}\n{"claim": 2, "verdict": "entailment"}', v(NE, E)),
    ("one entry", V, '{"claim": 1, "verdict": "neutral"}', v(NE)),
    ("keyed by numbers", V, '{"1": "neutral", "2": "entailment"}', v(NE, E)),
    (
        "keyed by numbers inside",
        V,
        '{"verdicts": {"1": {"verdict": "neutral"}, "2": {"verdict": "contradiction"}}}',
        v(NE, CO),
    ),
    ("keyed claims", C, '{"claims": {"2": "b", "1": "a"}}', c("a", "b")),
    ("words by place", V, '{"verdicts": ["neutral", "entailment"]}', v(NE, E)),
    ("numbers as strings", V, '{"verdicts": [{"claim": "1", "verdict": "neutral"}]}', v(NE)),
    ("numbers in brackets", V, '{"verdicts": [{"claim": "[1]", "verdict": "neutral"}]}', v(NE)),
    (
        "claim's text beside its number",
        V,
        '{"verdicts": [{"claim_id": 1, "claim": "The boat.", "verdict": "neutral"}]}',
        v(NE),
    ),
    (
        "numbers in a line",
        X,
        '{"verdicts": [{"claim": 1, "supported_by": "1, 3", "contradicted_by": "none", "together": "entailment"}]}',
        ONE,
    ),
    ("one number", N, '{"needed": 2}', {"needed": [2]}),
    (
        "other forms of verdicts",
        V,
        '{"verdicts": [{"claim": 1, "verdict": "Entailed"}, {"claim": 2, "verdict": "CONTRADICTS."}, {"claim": 3, "verdict": "**Neutral**"}, {"claim": 4, "verdict": "supported"}]}',
        v(E, CO, NE, E),
    ),
    ("wrapped", C, '{"reply": {"claims": ["a"]}}', c("a")),
    ("function call", C, '{"name": "ClaimsReply", "arguments": {"claims": ["a"]}}', c("a")),
    ("schema's form", C, '{"type": "object", "properties": {"claims": ["a"]}}', c("a")),
    ("more keys", C, '{"reasoning": "two facts", "claims": ["a"]}', c("a")),
    ("claims as objects", C, '{"claims": [{"claim": "a"}, {"id": 2, "claim": "b"}]}', c("a", "b")),
    ("blank claims", C, '{"claims": ["a", " ", ""]}', c("a")),
    ("triplets as lists", T, '{"triplets": [["a", "is", "b"]]}', t(("a", "is", "b"))),
    ("triplet keys", T, '{"Triplets": [{"Subject": "a", "Relation": "is", "Object": "b"}]}', t(("a", "is", "b"))),
    ("yes for true", Q, '{"questions": [], "noncommittal": "yes"}', {"questions": [], "noncommittal": True}),
    # Two objects.
    ("the same twice", C, '{"claims": ["a"]}\n{"claims": ["a"]}', c("a")),
    ("corrected", C, '{"claims": ["a"]}\nWait, the corrected version:\n{"claims": ["a", "b"]}', c("a", "b")),
    ("example, then answer", C, 'Example: {"claims": ["x"]}. My answer: {"claims": ["a"]}', c("a")),
    (
        "the schema, then the answer",
        C,
        'Schema: {"type": "object", "properties": {"claims": {"type": "array"}}}\n{"claims": ["a"]}',
        c("a"),
    ),
    ("format with dots, then answer", C, 'As {"claims": [...]}: {"claims": ["a"]}', c("a")),
    ("thoughts as an object", C, '{"reasoning": "one fact"}\n{"claims": ["a"]}', c("a")),
    ("continued", C, '{"claims": ["a"]}\n{"claims": ["b"]}', Fault.AMBIGUOUS),
    ("two paragraphs", C, 'First paragraph: {"claims": ["a"]} Second paragraph: {"claims": ["b"]}', Fault.AMBIGUOUS),
    ("one key twice, different", C, '{"claims": ["a"], "claims": ["b"]}', Fault.AMBIGUOUS),
    # Cut off.
    ("cut in a string", C, '{"claims": ["a", "The boat lea', Fault.CUT_OFF),
    ("cut behind a comma", C, '{"claims": ["a",', Fault.CUT_OFF),
    ("cut before the end", C, '{"claims": ["a"]', Fault.CUT_OFF),
    ("cut inside of entries", V, '{"verdicts": [{"claim": 1, "verdict": "neutral"}, {"claim": 2, "ver', Fault.CUT_OFF),
    ("cut in a fence", V, '```json\n{"verdicts": [{"claim": 1, "verdict": "neutral"},\n', Fault.CUT_OFF),
    ("cut in a key", C, '{"cla', Fault.CUT_OFF),
    ("cut at once", C, "{", Fault.CUT_OFF),
    ("second object cut", C, '{"claims": ["a"]}\n{"claims": ["a", "b', Fault.CUT_OFF),
    ("cut after prose", C, 'Here you are: {"claims": ["a", "b"', Fault.CUT_OFF),
    ("cut list", C, '["a", "b', Fault.CUT_OFF),
    ("missing bracket", C, '{"claims": ["a", "b"}', Fault.CUT_OFF),
    # Declined.
    ("refusal", C, "I'm sorry, but I can't help with that.", Fault.DECLINED),
    ("refusal, typographic", C, "I’m sorry, but I can’t assist with this request.", Fault.DECLINED),
    ("German refusal", C, "Es tut mir leid, aber dabei kann ich nicht helfen.", Fault.DECLINED),
    ("French refusal", C, "Je suis désolé, mais je ne peux pas vous aider.", Fault.DECLINED),
    ("Spanish refusal", C, "Lo siento, no puedo ayudarte con eso.", Fault.DECLINED),
    ("Chinese refusal", C, "抱歉，我无法回答这个问题。", Fault.DECLINED),
    ("Russian refusal", C, "Извините, я не могу помочь с этим.", Fault.DECLINED),
    ("Japanese refusal", C, "申し訳ありませんが、お手伝いできません。", Fault.DECLINED),
    ("refusal as JSON", C, '{"error": "I cannot assist with this request."}', Fault.DECLINED),
    ("refusal with an empty object", C, "I'm sorry, but I can't help with that. {\"claims\": []}", Fault.DECLINED),
    ("refusal after thoughts", C, "<think>Not good.</think>I cannot assist with this request.", Fault.DECLINED),
    # Empty.
    ("nothing", C, "", Fault.EMPTY),
    ("spaces", C, " \n\t ", Fault.EMPTY),
    ("only a mark", C, "\ufeff", Fault.EMPTY),
    # No JSON.
    ("bullets", C, "- The boat leaves at 9.\n- It is red.", Fault.NOT_JSON),
    ("a word", V, "entailment", Fault.NOT_JSON),
    ("YAML", C, "claims:\n  - a\n  - b", Fault.NOT_JSON),
    ("XML", C, "<claims><claim>a</claim></claims>", Fault.NOT_JSON),
    ("numbers in prose", N, "Only sentence [2] helps here, I would say.", Fault.NOT_JSON),
    ("missing comma between strings", C, '{"claims": ["a" "b"]}', Fault.NOT_JSON),
    (
        "missing bracket of entries",
        V,
        '{"verdicts": [{"claim": 1, "verdict": "neutral"}, {"claim": 2, "verdict": "neutral"}}',
        Fault.NOT_JSON,
    ),
    (
        "broken entry",
        V,
        '{"verdicts": [{"claim": 1 "verdict": "neutral"}, {"claim": 2, "verdict": "neutral"}]}',
        Fault.NOT_JSON,
    ),
    ("left out by dots", C, '{"claims": ["a", ...]}', Fault.NOT_JSON),
    ("left out by a comment", C, '{"claims": ["a" // ... and so on\n]}', Fault.NOT_JSON),
    ("odd inner quotes", C, '{"claims": ["x "a", "b" y"]}', Fault.NOT_JSON),
    ("broken behind the answer", C, '{"claims": ["a"]} Better: {"claims": ["a" "b"]}', Fault.NOT_JSON),
    ("two commas", C, '{"claims": ["a",, "b"]}', Fault.NOT_JSON),
    # The wrong shape.
    ("other key", C, '{"statements": ["a"]}', Fault.WRONG_SHAPE),
    ("opposite key", N, '{"unneeded": [1]}', Fault.WRONG_SHAPE),
    ("translated key", C, '{"behauptungen": ["a"]}', Fault.WRONG_SHAPE),
    ("a text for a list", C, '{"claims": "a, b"}', Fault.WRONG_SHAPE),
    ("numbers for claims", C, '{"claims": [1, 2]}', Fault.WRONG_SHAPE),
    ("missing key", Q, '{"questions": ["When?"]}', Fault.WRONG_SHAPE),
    ("yes for a verdict", V, '{"verdicts": [{"claim": 1, "verdict": "yes"}]}', Fault.WRONG_SHAPE),
    ("no for a verdict", V, '{"verdicts": [{"claim": 1, "verdict": "no"}]}', Fault.WRONG_SHAPE),
    ("unsupported", V, '{"verdicts": [{"claim": 1, "verdict": "not supported"}]}', Fault.WRONG_SHAPE),
    ("two verdicts in one", V, '{"verdicts": [{"claim": 1, "verdict": "entailment or neutral"}]}', Fault.WRONG_SHAPE),
    ("true for a number", V, '{"verdicts": [{"claim": true, "verdict": "neutral"}]}', Fault.WRONG_SHAPE),
    ("half a number", V, '{"verdicts": [{"claim": 1.5, "verdict": "neutral"}]}', Fault.WRONG_SHAPE),
    ("null", C, '{"claims": null}', Fault.WRONG_SHAPE),
    (
        "only the schema",
        C,
        '{"type": "object", "properties": {"claims": {"type": "array", "items": {"type": "string"}}}}',
        Fault.WRONG_SHAPE,
    ),
    ("empty object", C, "{}", Fault.WRONG_SHAPE),
]
