"""Made-up tables of many domains, languages and styles, as strangers write them, with the mapping that is right."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq


class Row(NamedTuple):
    """One exchange of a domain."""

    question: str
    answer: str
    reference: str
    chunks: list[str]


VET = [
    Row(
        "What is the meloxicam dose for a 12 kg dog?",
        "Give 1.2 mg once daily, after a first dose of 2.4 mg.",
        "0.1 mg/kg, so 1.2 mg",
        [
            "Meloxicam for dogs: first day 0.2 mg per kg of body weight, then 0.1 mg per kg once daily.",
            "Do not give meloxicam to pregnant animals or together with steroids.",
        ],
    ),
    Row(
        "May cats have paracetamol?",
        "No, paracetamol is toxic to cats and must never be given.",
        "No, never",
        ["Paracetamol damages the red blood cells of cats; a single tablet may be fatal within two days."],
    ),
    Row(
        "How often is the rabies vaccine repeated?",
        "It is repeated every three years after the first booster.",
        "every three years",
        [
            "After the booster at twelve months the rabies vaccine is repeated every three years.",
            "Puppies get the first rabies shot at twelve weeks.",
        ],
    ),
    Row(
        "Which worms does praziquantel treat?",
        "Praziquantel treats tapeworms in dogs and cats.",
        "tapeworms",
        ["Praziquantel acts on tapeworms only; roundworms need another drug such as pyrantel."],
    ),
]
LIGHTHOUSE = [
    Row(
        "When was the lamp of Skerry Point electrified?",
        "The lamp has been electric since 1934.",
        "1934",
        [
            "In 1934 the paraffin lamp of Skerry Point was replaced by an electric one of 1,000 watts.",
            "Visitors climb 142 steps to the gallery.",
        ],
    ),
    Row(
        "How many steps lead up?",
        "There are 142 steps to the gallery.",
        "142",
        ["Visitors climb 142 steps to the gallery; the last twelve are a ladder."],
    ),
    Row(
        "Is the museum open on Mondays?",
        "No, it is closed on Mondays except in August.",
        "Only in August",
        [
            "The museum is open Tuesday to Sunday. In August it opens every day.",
            "Tickets are sold until half an hour before closing.",
        ],
    ),
    Row(
        "Who was the last keeper?",
        "The last keeper was Ada Thorsen, who left in 1988.",
        "Ada Thorsen",
        ["Ada Thorsen kept the light until its automation in 1988."],
    ),
]
BEES = [
    Row(
        "Wann wird der Honig geschleudert?",
        "Der Honig wird meist Ende Mai und Mitte Juli geschleudert.",
        "Ende Mai und Mitte Juli",
        ["Die Frühtracht wird Ende Mai geschleudert, die Sommertracht Mitte Juli, sobald die Waben verdeckelt sind."],
    ),
    Row(
        "Wie viel Futter braucht ein Volk im Winter?",
        "Ein Volk braucht etwa 18 Kilogramm Winterfutter.",
        "rund 18 kg",
        [
            "Für den Winter rechnet man je Wirtschaftsvolk mit 15 bis 20 Kilogramm Futter.",
            "Ameisensäure wird nach der letzten Ernte eingesetzt.",
        ],
    ),
    Row(
        "Womit behandelt man die Varroamilbe?",
        "Nach der Ernte behandelt man mit Ameisensäure, im Winter mit Oxalsäure.",
        "Ameisensäure, im Winter Oxalsäure",
        ["Ameisensäure wird nach der letzten Ernte eingesetzt; die Restentmilbung erfolgt im Dezember mit Oxalsäure."],
    ),
    Row(
        "Darf ich Bienen im Kleingarten halten?",
        "Ja, wenn die Satzung des Vereins es erlaubt.",
        "Ja, sofern die Satzung es zulässt",
        ["Im Kleingarten ist Bienenhaltung erlaubt, soweit die Satzung des Vereins nichts anderes bestimmt."],
    ),
]
OPERA = [
    Row(
        "À quelle heure commence la visite guidée ?",
        "La visite guidée commence à 14 h 30.",
        "14 h 30",
        ["Les visites guidées de l'opéra partent chaque jour à 14 h 30 du grand escalier."],
    ),
    Row(
        "Combien coûte un billet étudiant ?",
        "Un billet étudiant coûte 9 euros.",
        "9 €",
        ["Tarifs : plein 15 euros, étudiants 9 euros, gratuit avant douze ans.", "Le vestiaire est obligatoire."],
    ),
    Row(
        "Le vestiaire est-il obligatoire ?",
        "Oui, le vestiaire est obligatoire pour les grands sacs.",
        "Oui",
        ["Le vestiaire est obligatoire pour les sacs et les parapluies."],
    ),
    Row(
        "Qui a peint le plafond ?",
        "Le plafond a été peint par Marcel Aubin en 1907.",
        "Marcel Aubin",
        ["Le plafond de la salle fut peint en 1907 par Marcel Aubin."],
    ),
]
OLIVES = [
    Row(
        "¿Cuándo se recoge la aceituna?",
        "La aceituna se recoge entre noviembre y enero.",
        "de noviembre a enero",
        ["La recogida de la aceituna dura de noviembre a enero según la variedad."],
    ),
    Row(
        "¿Qué acidez tiene el aceite virgen extra?",
        "Su acidez no supera el 0,8 %.",
        "0,8 % como máximo",
        ["El aceite de oliva virgen extra tiene una acidez máxima de 0,8 grados.", "La almazara abre en octubre."],
    ),
    Row(
        "¿Cuántos litros da un árbol?",
        "Un árbol adulto da unos cuatro litros.",
        "unos cuatro litros",
        ["Un olivo adulto rinde cerca de veinte kilos de aceituna, es decir unos cuatro litros de aceite."],
    ),
]
METRO = [
    Row(
        "Во сколько закрывается метро?",
        "Метро закрывается в час ночи.",
        "в час ночи",
        ["Станции метро открыты с половины шестого утра до часа ночи ежедневно."],
    ),
    Row(
        "Сколько стоит проезд?",
        "Проезд стоит 65 рублей по карте.",
        "65 рублей",
        ["Разовый проезд по карте стоит 65 рублей, наличными 75 рублей.", "Дети до семи лет едут бесплатно."],
    ),
    Row(
        "Можно ли провозить велосипед?",
        "Складной велосипед можно провозить бесплатно.",
        "только складной",
        ["Складные велосипеды провозят бесплатно, остальные запрещены в часы пик."],
    ),
]
TEA = [
    Row(
        "绿茶用多少度的水冲泡？",
        "绿茶用八十度左右的水冲泡。",
        "八十度",
        ["冲泡绿茶的水温以八十度左右为宜，水温过高会破坏茶叶中的营养。"],
    ),
    Row(
        "普洱茶可以保存多久？",
        "普洱茶可以保存几十年。",
        "几十年",
        ["普洱茶在干燥通风的地方可以保存几十年，味道会越来越醇厚。"],
    ),
    Row(
        "什么时候采春茶？",
        "春茶在清明前后采摘。",
        "清明前后",
        ["春茶一般在清明前后采摘，此时的嫩芽最为鲜嫩，品质也最好。"],
    ),
]
KILN = [
    Row(
        "cone for stoneware glaze",
        "Fire stoneware glazes to cone 6 in an electric kiln.",
        "cone 6",
        ["Our stoneware glazes mature at cone 6, about 1222 degrees Celsius, with a hold of ten minutes."],
    ),
    Row(
        "why do glazes crawl",
        "Glazes crawl when the bisque is dusty or the coat is too thick.",
        "dust or thick glaze",
        [
            "Crawling is caused by dust on the bisque ware, or by a coat of glaze that is too thick and cracks as it dries."
        ],
    ),
    Row(
        "how long to bisque",
        "A bisque firing takes about nine hours.",
        "nine hours",
        ["The slow bisque programme takes about nine hours to cone 04, then the kiln cools overnight."],
    ),
    Row(
        "is barium safe in glazes",
        "Barium carbonate is toxic as a powder; wear a mask.",
        "toxic as powder",
        ["Barium carbonate powder is toxic when inhaled or swallowed. Wear a mask and gloves when you mix it."],
    ),
]


class Made(NamedTuple):
    """A file: its name, its rows and the right mapping."""

    file: str
    rows: list[dict[str, Any]]
    right: dict[str, str]
    delimiter: str = ","
    bom: bool = False
    first_line: str = ""


def table(domain: list[Row], lists: str = "list", **columns: str) -> list[dict[str, Any]]:
    """The rows of a domain under these names; `lists` is how chunks are written: list, json, python, text or maps."""
    made = []
    for number, row in enumerate(domain, start=1):
        chunks: Any = row.chunks
        if lists == "json":
            chunks = json.dumps(chunks, ensure_ascii=False)
        elif lists == "python":
            chunks = str(chunks)
        elif lists == "text":
            chunks = "\n\n".join(chunks)
        elif lists == "maps":
            chunks = [{"page_content": text, "metadata": {"source": "x.md"}} for text in chunks]
        values = {
            "question": row.question,
            "answer": row.answer,
            "references": row.reference,
            "contexts": chunks,
            "id": f"case-{number:03}",
        }
        made.append({theirs: values[ours] for ours, theirs in columns.items()})
    return made


def more(rows: list[dict[str, Any]], **columns: list[Any]) -> list[dict[str, Any]]:
    """The rows with further columns, whose values repeat."""
    return [
        {**row, **{name: values[at % len(values)] for name, values in columns.items()}} for at, row in enumerate(rows)
    ]


def write(made: Made, folder: Path) -> str:
    """Writes the file by the ending of its name."""
    path = folder / made.file
    if made.file.endswith((".csv", ".tsv")):
        stream = io.StringIO()
        stream.write(made.first_line)
        writer = csv.DictWriter(stream, list(made.rows[0]), delimiter=made.delimiter)
        writer.writeheader()
        writer.writerows(made.rows)
        path.write_text(stream.getvalue(), encoding="utf-8-sig" if made.bom else "utf-8", newline="")
    elif made.file.endswith(".jsonl"):
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in made.rows), encoding="utf-8")
    elif made.file.endswith(".json"):
        path.write_text(json.dumps(made.rows, ensure_ascii=False, indent=1), encoding="utf-8")
    else:
        pq.write_table(pa.Table.from_pylist(made.rows), path)
    return str(path)


def named(file: str, domain: list[Row], lists: str = "list", **columns: str) -> Made:
    """A file whose mapping is its columns."""
    return Made(file, table(domain, lists, **columns), columns)


def german(made: Made) -> Made:
    """As Excel writes CSV in German: semicolons and a mark at the start."""
    return made._replace(delimiter=";", bom=True)


# Written before the guess was tuned on them.
FIRST = [
    named("prompts.jsonl", VET, question="prompt", answer="completion", contexts="passages"),
    named("langsmith.jsonl", LIGHTHOUSE, question="input", answer="output", references="expected"),
    named("gold.csv", VET, "json", question="query", answer="generated_answer", references="gold", contexts="docs"),
    named(
        "pandas.csv",
        LIGHTHOUSE,
        "python",
        id="Unnamed: 0",
        question="Question",
        answer="Model Answer",
        references="Ground Truth",
        contexts="Retrieved Chunks",
    ),
    german(
        named(
            "imker.csv",
            BEES,
            "text",
            question="Frage",
            answer="Antwort",
            references="Musterantwort",
            contexts="Kontext",
        )
    ),
    german(
        named(
            "kunden.csv",
            BEES,
            "text",
            id="Lfd. Nr.",
            question="Kundenfrage",
            answer="Antwort des Bots",
            contexts="Fundstelle",
        )
    ),
    named(
        "opera.json",
        OPERA,
        question="Question posée",
        answer="Réponse",
        references="Réponse attendue",
        contexts="Extraits",
    ),
    named(
        "olivas.parquet",
        OLIVES,
        question="pregunta",
        answer="respuesta",
        references="respuesta_correcta",
        contexts="contexto",
    ),
    named("metro.jsonl", METRO, question="вопрос", answer="ответ", references="эталонный ответ", contexts="контекст"),
    named("tea.csv", TEA, "json", question="用户问题", answer="模型回答", references="参考答案", contexts="检索文档"),
    named(
        "kiln.tsv", KILN, "text", id="qid", question="user_query", answer="bot_response", contexts="source_text"
    )._replace(delimiter="\t"),
    named("kiln.jsonl", KILN, "maps", question="user_question", answer="llm_output", contexts="source_documents"),
    Made(
        "wide.csv",
        [
            {
                "id": f"w{n}",
                "Question": r.question,
                "Answer": r.answer,
                **{f"context_{k}": t for k, t in enumerate([*r.chunks, ""][:2], 1)},
            }
            for n, r in enumerate(VET)
        ],
        {"id": "id", "question": "Question", "answer": "Answer", "contexts": "context_*"},
    ),
    Made(
        "wide.parquet",
        [
            {
                "q": r.question,
                "a": r.answer,
                "gt": r.reference,
                "passage1": r.chunks[0],
                "passage2": r.chunks[-1],
                "passage3": None,
            }
            for r in LIGHTHOUSE
        ],
        {"question": "q", "answer": "a", "references": "gt", "contexts": "passage*"},
    ),
    named("nameless.csv", LIGHTHOUSE, "json", id="c1", question="c2", answer="c3", contexts="c4"),
    named("nameless_refs.jsonl", VET, id="k", question="x1", answer="x2", references="x3", contexts="x4"),
    german(named("spalten.csv", BEES, "text", question="Spalte A", answer="Spalte B", contexts="Spalte C")),
    named("misspelt.csv", LIGHTHOUSE, "json", question="qestion", answer="anser", contexts="contxts"),
    named(
        "shout.json",
        VET,
        id="QUESTION_ID",
        question="QUESTION",
        answer="ANSWER_TEXT",
        references="GOLD_ANSWER",
        contexts="RETRIEVED_CONTEXT",
    ),
    named(
        "camel.jsonl",
        KILN,
        id="caseId",
        question="userQuery",
        answer="modelResponse",
        references="groundTruth",
        contexts="retrievedDocs",
    ),
    Made(
        "support.csv",
        more(
            table(
                KILN, "text", id="ticket", question="customer_question", answer="agent_answer", contexts="kb_article"
            ),
            category=["glaze", "kiln"],
            created=["2026-01-02", "2026-01-03"],
            comment=[
                "the agent was polite and quick to answer",
                "customer called twice about the same kiln",
                "closed without a reply",
                "moved to the second level",
            ],
            rating=[4, 5, 3],
        ),
        {"id": "ticket", "question": "customer_question", "answer": "agent_answer", "contexts": "kb_article"},
    ),
    Made(
        "scored.jsonl",
        more(
            table(VET, question="prompt", answer="response", references="ideal", contexts="context"),
            answer_score=[0.4, 0.9],
            latency_ms=[120, 340],
            model=["m1"],
        ),
        {"question": "prompt", "answer": "response", "references": "ideal", "contexts": "context"},
    ),
    Made(
        "sep.csv",
        table(VET, "text", question="Query", answer="Output", contexts="Sources"),
        {"question": "Query", "answer": "Output", "contexts": "Sources"},
        ";",
        True,
        "sep=;\n",
    ),
    named(
        "reference.csv",
        LIGHTHOUSE,
        "json",
        question="question",
        answer="answer",
        references="reference",
        contexts="contexts",
    ),
    named(
        "half.jsonl",
        VET,
        question="question",
        answer="response",
        references="gold_answer",
        contexts="retrieved_passages",
    ),
    Made(
        "urls.jsonl",
        more(
            table(LIGHTHOUSE, question="question", answer="prediction", contexts="snippets"),
            source=["https://example.org/a", "https://example.org/b"],
            reference=["https://example.org/c"],
        ),
        {"question": "question", "answer": "prediction", "contexts": "snippets"},
    ),
    Made(
        "qa_only.csv",
        table(OPERA, question="Demande", answer="Réponse du modèle"),
        {"question": "Demande", "answer": "Réponse du modèle"},
    ),
    Made(
        "two_models.csv",
        [
            {
                "question": r.question,
                "gpt_answer": r.answer,
                "claude_answer": r.answer.replace("the", "a"),
                "expected_answer": r.reference,
            }
            for r in LIGHTHOUSE
        ],
        {"question": "question", "answer": "gpt_answer", "references": "expected_answer"},
    ),
    Made(
        "gold_context.jsonl",
        [
            {
                "query": r.question,
                "pred": r.answer,
                "target": r.reference,
                "ctxs": r.chunks,
                "gold_passage": [r.chunks[0]],
            }
            for r in VET
        ],
        {
            "question": "query",
            "answer": "pred",
            "references": "target",
            "contexts": "ctxs",
            "reference_contexts": "gold_passage",
        },
    ),
    named("chat.csv", KILN, "text", question="user", answer="assistant", contexts="background"),
]


# Written after the guess was tuned on the first ones, and never used for tuning.
SECOND = [
    named(
        "rag_eval.csv",
        KILN,
        "python",
        question="instruction",
        answer="rag_answer",
        references="human_answer",
        contexts="retrieved_text",
    ),
    named(
        "eval_v2.jsonl",
        LIGHTHOUSE,
        id="example_id",
        question="user_message",
        answer="assistant_message",
        contexts="search_results",
    ),
    german(
        named(
            "pruefung.csv",
            BEES,
            "json",
            id="Kennung",
            question="Fragestellung",
            answer="KI-Antwort",
            references="Soll-Antwort",
            contexts="Gefundene Abschnitte",
        )
    ),
    german(
        named(
            "chatbot.csv",
            BEES,
            "text",
            question="Nutzeranfrage",
            answer="Ausgabe",
            references="Erwartete Antwort",
            contexts="Quelltext",
        )
    ),
    named(
        "domande.json",
        OLIVES,
        question="domanda",
        answer="risposta_generata",
        references="risposta_attesa",
        contexts="contesto",
    ),
    named("perguntas.tsv", OLIVES, "text", question="pergunta", answer="resposta", contexts="trecho")._replace(
        delimiter="\t"
    ),
    named(
        "vragen.csv",
        LIGHTHOUSE,
        "json",
        question="vraag",
        answer="antwoord",
        references="juiste antwoord",
        contexts="fragmenten",
    ),
    named(
        "pytania.jsonl",
        VET,
        question="pytanie",
        answer="odpowiedź",
        references="odpowiedź wzorcowa",
        contexts="kontekst",
    ),
    named("shitsumon.jsonl", TEA, question="質問", answer="回答", references="正解", contexts="検索結果"),
    named("korean.csv", TEA, "json", question="질문", answer="모델 답변", references="정답", contexts="문맥"),
    named("sorular.parquet", KILN, question="soru", answer="cevap", references="beklenen cevap", contexts="bağlam"),
    named("fragor.csv", VET, "text", question="Fråga", answer="Svar", contexts="Sammanhang"),
    named(
        "evalset.jsonl",
        VET,
        question="query_text",
        answer="predicted_answer",
        references="true_answer",
        contexts="top_passages",
    ),
    named(
        "truelens.parquet",
        LIGHTHOUSE,
        id="record_id",
        question="input_text",
        answer="output_text",
        contexts="retrieved_documents",
    ),
    named(
        "squad.jsonl",
        KILN,
        id="uid",
        question="question_text",
        answer="model_prediction",
        references="answer_key",
        contexts="paragraph_text",
    ),
    Made(
        "flat.csv",
        [{"Q": r.question, "A": r.answer, "Chunk 1": r.chunks[0], "Chunk 2": r.chunks[-1]} for r in VET],
        {"question": "Q", "answer": "A", "contexts": "Chunk *"},
    ),
    Made(
        "refs.jsonl",
        [
            {"query": r.question, "hypothesis": r.answer, "ref1": r.reference, "ref2": r.reference.upper()}
            for r in LIGHTHOUSE
        ],
        {"question": "query", "answer": "hypothesis", "references": "ref*"},
    ),
    Made(
        "ground.csv",
        more(
            table(
                LIGHTHOUSE,
                "text",
                question="Prompt",
                answer="LLM Response",
                references="Expected Result",
                contexts="Knowledge Base Text",
            ),
            Passed=["TRUE", "FALSE"],
            Tester=["Kim", "Lee"],
            Remarks=["short but right as far as I can tell", "the year is missing", "fine", "see the other ticket"],
        ),
        {
            "question": "Prompt",
            "answer": "LLM Response",
            "references": "Expected Result",
            "contexts": "Knowledge Base Text",
        },
    ),
    Made(
        "anonymous.tsv",
        table(OPERA, "text", id="f0", question="f1", answer="f2", contexts="f3"),
        {"id": "f0", "question": "f1", "answer": "f2", "contexts": "f3"},
        "\t",
    ),
    named("letters.csv", METRO, "json", question="A", answer="B", references="C", contexts="D"),
    named("numbers.jsonl", BEES, question="0", answer="1", contexts="2"),
    named("excel.csv", VET, "text", question=" Question ", answer="Bot Answer (final)", contexts="Passage(s)")._replace(
        right={"question": "Question", "answer": "Bot Answer (final)", "contexts": "Passage(s)"}
    ),
    Made(
        "spare.csv",
        [{**row, "": ""} for row in table(KILN, "text", question="Search Query", answer="Reply", contexts="Excerpt")],
        {"question": "Search Query", "answer": "Reply", "contexts": "Excerpt"},
        ";",
        True,
    ),
    Made(
        "docs_ids.jsonl",
        more(
            table(VET, question="query", answer="answer", contexts="docs"),
            doc_ids=[["d1", "d2"], ["d3"]],
            relevant_ids=[["d1"], ["d3"]],
        ),
        {"question": "query", "answer": "answer", "contexts": "docs"},
    ),
    Made(
        "nested.jsonl",
        [
            {
                "user_input": r.question,
                "response": r.answer,
                "retrieved_contexts": r.chunks,
                "ground_truth": r.reference,
            }
            for r in LIGHTHOUSE
        ],
        {
            "question": "user_input",
            "answer": "response",
            "contexts": "retrieved_contexts",
            "references": "ground_truth",
        },
    ),
    Made(
        "exam.csv",
        more(
            table(VET, question="item", answer="candidate_answer", references="model_solution"),
            points=[1, 2],
            topic=["dose", "safety"],
        ),
        {"question": "item", "answer": "candidate_answer", "references": "model_solution"},
    ),
    # What a newcomer stumbled over.
    Made(
        "museum.csv",
        table(
            LIGHTHOUSE,
            "text",
            id="Nr",
            question="Visitor question",
            answer="Guide bot says",
            references="Curator answer",
            contexts="Archive excerpts",
        ),
        {
            "id": "Nr",
            "question": "Visitor question",
            "answer": "Guide bot says",
            "references": "Curator answer",
            "contexts": "Archive excerpts",
        },
        ";",
    ),
]
