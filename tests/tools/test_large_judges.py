"""The large judge as a tool: in this process and on a server, rules first, each text read once, windows, cascade, default."""

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import ragstone
from ragstone.agreement.judge_check import check_judge, quote_check
from ragstone.data.verdict import CONTRADICTION, ENTAILMENT, NEUTRAL, Verdict
from ragstone.errors import InterruptedRunError, Skip, UsageError
from ragstone.llm.base import LLMReplyError, Reply
from ragstone.models.large_judge import read_large_card
from ragstone.number_format import duration
from ragstone.testing import FakeLLM
from ragstone.tools.large_judges import open_large_tool
from ragstone.tools.llama import is_llama, is_trained_judge
from ragstone.tools.local_judges import BY_NUMBERS
from ragstone.tools.open_tools import ToolFactory
from ragstone.tools.protocols import Joint, Whole
from ragstone.views.run import verdict_lines
from tests.models.toy_judge import make_toy_judge
from tests.tools.large import LargeEngine, install_base, reply_to

BOAT, SHUT = "The boat leaves at noon", "The museum does not open on Mondays"
ROW = {
    "id": "1",
    "question": "When does the boat leave?",
    "answer": "The boat leaves at noon on weekdays. The museum does open on Mondays. Whales sing softly.",
    "contexts": [
        "By the plan, The boat leaves at noon on weekdays and so on.",
        "The museum does not open on Mondays, sadly.",
    ],
    "references": ["Boats go at twelve."],
}


def run(work):
    return asyncio.run(work)


class Model:
    """An LLM of which the replies come from `reply_to`."""

    name = signature = "fake/judge"

    def __init__(self):
        self.asked = []

    async def complete(self, request):
        self.asked.append(request)
        body = {"messages": [{"content": message.content} for message in request.messages]}
        [choice] = reply_to(body)["choices"]
        [token] = choice["logprobs"]["content"]
        top = tuple((one["token"], one["logprob"]) for one in token["top_logprobs"])
        return Reply(token["token"], self.name, logprobs=top[:1], alternatives=(top,))

    async def close(self):
        """Nothing is open."""


def check(claims, texts, model=None, question=""):
    checker = open_large_tool("checker", model or Model(), in_turn=True)
    return run(checker.check(question, claims, texts))


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """The base is installed, and the large judge is a stand-in."""
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))
    install_base(tmp_path, monkeypatch)
    made = LargeEngine()
    monkeypatch.setattr("ragstone.models.llama_engine.LlamaChat.ask", lambda self, body: made(body))
    return made


@pytest.fixture
def small(tmp_path, monkeypatch):
    pytest.importorskip("onnx", reason="onnx is not installed")
    texts = [ROW["answer"], *ROW["contexts"], *ROW["references"], ROW["question"]]
    monkeypatch.setenv("RAGSTONE_LOCAL_JUDGE", str(make_toy_judge(tmp_path / "toy", texts)))


def test_names():
    assert is_llama("local-large")
    assert all(map(is_trained_judge, ("local-large", "vllm/ragstone-judge", "ollama/ragstone-judge:latest")))
    assert not is_trained_judge("openai/gpt-4o-mini")
    assert not is_trained_judge("llama/qwen2.5-1.5b")


def test_three_verdicts_with_probabilities():
    model = Model()
    claims = [f"{BOAT} on weekdays", "The museum does open on Mondays", "Whales sing in the museum"]
    text = f"Note: {BOAT} on weekdays; {SHUT}."
    [[boat], [shut], [whales]] = check(claims, [text], model)
    assert (boat, shut, whales) == (ENTAILMENT, CONTRADICTION, NEUTRAL)
    assert boat.support > 0.9
    assert shut.contradiction > 0.5
    first = model.asked[0]
    assert [message.role for message in first.messages] == ["system", "user"]
    assert first.messages[0].content == "Answer yes, no or unknown."
    assert first.messages[1].content.startswith(f"Evidence:\n{text}\n\nClaim: ")
    assert (first.max_tokens, first.logprobs) == (1, True)


def test_claims_of_answers_are_read_with_the_question():
    chunks = ["The boat takes sixteen people on the lake.", "Groups on the lake need a second boat."]
    model = Model()
    check(["The boat suits a group of ten"], [*chunks, Joint.of(chunks)], model, "We are a group of ten. Which boat?")
    asked = [request.messages[1].content for request in model.asked]
    assert asked
    assert all("\n\nQuestion: We are a group of ten. Which boat?\n\nClaim: " in text for text in asked)
    for question, texts in (("Which boat?", chunks), ("", [*chunks, Joint.of(chunks)])):
        model = Model()
        check(["The boat suits a group of ten"], texts, model, question)
        assert model.asked
        assert not any("Question:" in request.messages[1].content for request in model.asked)


def test_rules_come_first():
    model = Model()
    rows = check(["The pool is 2 m deep.", "The pool is 3 m deep.", ""], ["The pool is 2 m deep."], model)
    assert [row[0] for row in rows] == [ENTAILMENT, CONTRADICTION, NEUTRAL]
    refused = check(["The pool is deep."], [Whole("I don't know.")], model)
    assert refused == [[NEUTRAL]]
    # A number that the text has otherwise limits support; how far the model supports the claim still counts below that.
    assert len(model.asked) == 1
    assert rows[1][0].support <= BY_NUMBERS[True][1]


def test_each_text_is_read_once_for_all_claims_with_its_layout():
    model = Model()
    texts = [
        "| day | boat |\n|---|---|\n| Monday | red boat |",
        "- the blue boat sails on Tuesday\n- the green boat rests",
    ]
    check(["the red boat sails on Monday", "the green boat sails on Tuesday"], texts, model)
    evidence = [request.messages[1].content.partition("\n\nClaim: ")[0] for request in model.asked]
    runs = [text for number, text in enumerate(evidence) if number == 0 or evidence[number - 1] != text]
    assert len(runs) == len(set(runs)), "no text is read again after another one"
    assert any("|---|---|" in text for text in evidence), "tables are read as they are"


def test_a_long_text_is_read_in_windows():
    model = Model()
    filler = " ".join(f"Whales swim near island number {number} each summer." for number in range(600))
    text = f"{filler} Then {BOAT} on weekdays. {filler}"
    [[verdict]] = check([f"{BOAT} on weekdays"], [text], model)
    assert verdict == ENTAILMENT
    assert 1 <= len(model.asked) <= 3
    assert all(len(request.messages[1].content) < 12_000 for request in model.asked)


def test_languages():
    german = "Das Boot fährt am Mittag ab, und das Museum ist am Montag geschlossen."
    [[verdict]] = check(["Das Boot fährt am Mittag ab"], [f"Hinweis: {german}"])
    assert verdict == ENTAILMENT
    with pytest.raises(Skip, match="reads only"):
        check(
            ["הסירה יוצאת בצהריים מן הרציף הראשי של העיר"],
            ["הסירה יוצאת בצהריים והמוזיאון סגור בימי שני"],
        )


def test_a_server_without_the_adapter_or_log_probabilities():
    plain = FakeLLM(["Yes, it does."])
    with pytest.raises(LLMReplyError, match="no log-probabilities"):
        check(["Whales sing in the museum"], ["A text about whales."], plain)
    other = Model()
    other.complete = lambda request: _reply("Yes", (("Yes", -0.1), ("No", -3.0)))
    with pytest.raises(LLMReplyError, match="Is the adapter loaded"):
        check(["Whales sing in the museum"], ["A text about whales."], other)


async def _reply(text, top):
    return Reply(text, "fake", logprobs=top[:1], alternatives=(top,))


def test_answers():
    model = Model()
    grader = open_large_tool("grader", model, in_turn=True)
    assert run(grader.matches("When?", "Boats go at twelve.", ["They leave at noon.", "I don't know."]))[0] > 0.8
    assert model.asked[0].messages[1].content == (
        "Question: When?\nReference: They leave at noon.\n\nAnswer: Boats go at twelve.\n\n"
        "Does the answer agree with the reference?"
    )
    assert run(grader.matches("When?", "I don't know.", ["At noon."])) == [0.0]
    long = " ".join("Whales swim near the quiet island each summer." for _ in range(600))
    run(grader.matches("Where?", f"{long} {BOAT}.", [f"{BOAT}. {long}"]))
    assert len(model.asked[-1].messages[1].content) < 14_000, "both texts fit into the context"
    assert model.asked[-1].messages[1].content.count(BOAT) == 2


def test_a_run_in_this_process(engine, tmp_path):
    metrics = ["ragchecker.precision", "ragchecker.faithfulness", "answer_match"]
    seen = []
    how = {"judge": "local-large", "out": tmp_path / "out"}
    first = ragstone.evaluate([ROW], metrics, **how, budget="1usd", progress=seen.append)
    assert max(step.calls for step in seen if not step.done) == len(engine.bodies)
    means = {row.metric: row.mean for row in first.summary()}
    assert means["ragchecker.faithfulness"] == pytest.approx(0.4, abs=0.05), "one of three claims, weighed by words"
    assert first.info["totals"]["cost_usd"] == 0
    assert first.info["judge"]["checker"].startswith("llama/judge-1.5b/")
    assert first.info["judge"]["extractor"].startswith("rules/")
    assert {body["id_slot"] for body in engine.bodies} == {0}
    assert {body["lora"][0]["scale"] for body in engine.bodies} == {1.0}
    count = len(engine.bodies)
    ragstone.evaluate([ROW], metrics, **how)
    assert len(engine.bodies) == count, "replies are cached"


@pytest.mark.parametrize("cache", [True, False])
def test_a_stopped_run_says_that_replies_are_kept(engine, tmp_path, monkeypatch, cache):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("ragstone.engine.evaluate._Evaluation._compute_parts", stop)
    with pytest.raises(InterruptedRunError) as caught:
        ragstone.evaluate([ROW], "ragchecker.faithfulness", tmp_path / "out", judge="local-large", cache=cache)
    assert ("Replies so far are in the cache and are not asked again." in str(caught.value)) is cache
    assert "--resume" in str(caught.value)


def test_the_quote_starts_nothing_and_says_the_time(engine):
    quoted = ragstone.quote([ROW], "ragchecker", judge="local-large")
    assert engine.bodies == []
    assert quoted.total.calls >= 5
    assert quoted.total.cost_usd == 0
    # One call at a time, however many may wait.
    assert quoted.total.seconds >= 0.02 * quoted.total.input_tokens


def test_it_does_not_grade_or_write_questions(engine):
    tools = ToolFactory({"judge": "local-large"}, 4).tools
    assert {"checker", "grader", "extractor"} <= tools.keys()
    assert not {"rater", "pair_judge", "judge"} & tools.keys()
    with pytest.raises(UsageError, match="only judges"):
        ToolFactory({"judge": "local-large", "extractor": "vllm/ragstone-judge"}, 4).tools  # noqa: B018


def test_claims_by_the_base_model(engine, tmp_path):
    row = {**ROW, "answer": "Hello! The boat leaves at noon."}
    made = ragstone.evaluate([row], "ragchecker.precision", judge="local-large", extractor="local-large", out=tmp_path)
    assert made.info["judge"]["extractor"].startswith("llama/judge-1.5b-base#")
    writes = [body for body in engine.bodies if body["lora"][0]["scale"] == 0.0]
    assert writes
    assert {body["id_slot"] for body in writes} == {1}
    # A line that is not in the text is dropped.
    assert any("Claim: The boat leaves." in asked for asked in engine.asked)
    assert not any("cheese" in asked for asked in engine.asked)


def test_the_default_is_a_cascade_where_the_base_is_installed(engine, small, tmp_path):
    row = {**ROW, "answer": f"{ROW['answer']} The boat leaves at dusk on Mondays."}
    made = ragstone.evaluate([row], ["ragchecker.faithfulness", "answer_match"], out=tmp_path / "out")
    checker = made.info["judge"]["checker"]
    assert checker.startswith("local-judge/")
    assert ">llama/judge-1.5b/" in checker
    assert checker.endswith(f"@{read_large_card().cascade:g}")
    ladder = made.info["totals"]["ladder"]
    assert ladder["passed_on"] > 0
    assert any("escalated" in line and "to llama/judge-1.5b" in line for line in verdict_lines(made.info))
    [rows] = made.evidence("answer_claims_in_contexts")["value"].to_pylist()
    verdicts = [Verdict.from_text(one) for row in rows for one in row]
    assert {one.source for one in verdicts} == {None, f"llama/judge-1.5b/{read_large_card().version}"}, (
        "each verdict names the judge that decided"
    )
    assert ladder["decided_locally"] + ladder["passed_on"] > 0
    alone = ragstone.evaluate([ROW], "ragchecker.faithfulness", judge="local", out=tmp_path / "out")
    assert ">" not in alone.info["judge"]["checker"]


def test_when_it_is_not_the_default(engine, small, tmp_path, monkeypatch):
    def checker(**options):
        return ToolFactory(options, 4, large=True).tools.get("checker")

    assert ">" not in ToolFactory({}, 4).tools["checker"].signature, "single rows do not wait for it"

    assert ">" in checker().signature
    assert "@0.95" in checker(judge="local>local-large", agreement=0.95).signature
    assert ">" not in checker(judge="local").signature
    monkeypatch.setenv("RAGSTONE_LARGE_JUDGE", "off")
    assert ">" not in checker().signature
    monkeypatch.setenv("RAGSTONE_LARGE_JUDGE", "")
    monkeypatch.setenv("RAGSTONE_LOCAL_JUDGE", "off")
    assert checker() is None
    assert checker(judge="local-large").signature.startswith("llama/judge-1.5b/")


def test_reasons_on_request(engine, tmp_path, cli):
    made = ragstone.evaluate([ROW], "ragchecker.faithfulness", judge="local-large", out=tmp_path / "out")
    shown = cli("explain", made.path, "1", "--reasons")
    assert shown.code == 0
    assert "Whales sing softly.\n  The text is silent." in shown.out
    assert "not checked" in shown.out
    as_json = json.loads(cli("explain", made.path, "1", "--reasons", "--json").out)
    assert len(as_json["written_reasons"]) == 2, "of the claims that are not supported"
    assert engine.bodies[-1]["lora"][0]["scale"] == 0.0


def test_the_exam_has_one_way_of_asking(engine):
    checked = check_judge("local-large", calibrate=True)
    assert [one.way for one in checked.ways] == ["tokens"]
    assert checked.signature.startswith("llama/judge-1.5b/")
    assert quote_check("local-large").calls == 0, "the replies are cached"


def test_long_work_needs_its_name(engine, small, tmp_path, monkeypatch):
    """The estimate of --quote decides, and --quote itself says what the run will do."""
    seconds = ragstone.quote([ROW], "ragchecker.faithfulness", judge="local>local-large").total.seconds
    assert ragstone.quote([ROW], "ragchecker.faithfulness").total.seconds == pytest.approx(seconds) != 0

    monkeypatch.setattr("ragstone.tools.open_tools.MOST_SECONDS_LARGE", seconds - 0.1)
    assert ragstone.quote([ROW], "ragchecker.faithfulness").total.calls == 0
    notes = []
    ragstone.evaluate([ROW], "token_f1", out=tmp_path / "out", note=notes.append)
    assert notes == [], "nothing is said where it would not be asked"
    made = ragstone.evaluate([ROW], "ragchecker.faithfulness", out=tmp_path / "out", note=notes.append)
    assert notes == [f"the larger judge would take about {duration(seconds)} here: --judge local-large asks it"]
    assert ">" not in made.info["judge"]["checker"]
    assert engine.bodies == []


def test_a_stopped_cascade_goes_on_however_long_it_takes(engine, small, tmp_path, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("ragstone.engine.evaluate._Evaluation._compute_parts", stop)
        with pytest.raises(InterruptedRunError):
            ragstone.evaluate([ROW], "ragchecker.faithfulness", tmp_path / "out")
    monkeypatch.setattr("ragstone.tools.open_tools.MOST_SECONDS_LARGE", -1.0)
    made = ragstone.evaluate([ROW], "ragchecker.faithfulness", tmp_path / "out", resume=True)
    assert ">" in made.info["judge"]["checker"]


def test_other_languages_go_to_the_large_judge(engine, small, tmp_path):
    german = "Das Boot fährt am Mittag ab, und das Museum ist am Montag geschlossen."
    row = {**ROW, "answer": german, "contexts": [f"Hinweis: {german}", "Die Wale singen im Winter nicht."]}
    made = ragstone.evaluate([row], "ragchecker.faithfulness", out=tmp_path / "out")
    [line] = made.summary()
    assert line.n_ok == 1
    assert made.info["totals"]["ladder"]["decided_locally"] == 0
    alone = ragstone.evaluate([row], "ragchecker.faithfulness", judge="local", out=tmp_path / "out")
    assert alone.summary()[0].n_ok == 0, "the small judge reads English only"


@pytest.fixture
def server():
    """A server with the adapter, in OpenAI's format."""
    bodies = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            bodies.append(body)
            data = json.dumps(reply_to(body)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            """Print nothing."""

    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    made.bodies, made.url = bodies, f"http://127.0.0.1:{made.server_address[1]}/v1"
    yield made
    made.shutdown()
    made.server_close()


@pytest.mark.parametrize("model", ["vllm/ragstone-judge", "ollama/ragstone-judge", "openai/ragstone-judge"])
def test_a_server_is_asked_in_the_trained_form(model, server, engine, small, tmp_path):
    metrics = ["ragchecker.precision", "ragchecker.faithfulness", "answer_match"]
    there = ragstone.evaluate([ROW], metrics, judge=model, base_url=server.url, out=tmp_path / "out", cache=False)
    here = ragstone.evaluate([ROW], metrics, judge="local-large", out=tmp_path / "out", cache=False)
    assert [row.mean for row in there.summary()] == [row.mean for row in here.summary()]
    asked = [body["messages"] for body in server.bodies]
    assert sorted(map(str, asked)) == sorted(str(body["messages"]) for body in engine.bodies)
    first = server.bodies[0]
    assert first["model"] == "ragstone-judge"
    assert (first["max_tokens"], first["temperature"], first["logprobs"], first["top_logprobs"]) == (1, 0.0, True, 20)
