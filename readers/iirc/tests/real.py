"""All real questions at hand, in the official layout.

Of IIRC itself sixteen are published where tests can read them: two in a file of the official
layout, fourteen with an answer and pieces of the linked articles. What is missing to 32 and as many
others is real questions of SQuAD and DROP, which IIRC 5 combines with its own.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from annotation.protocols.iirc.combined import drop_passages, squad_passages
from annotation.protocols.iirc.export import ArticleKeys, passage_json
from annotation.protocols.iirc.official_files import (
    MAIN,
    QUESTION,
    Passage,
    Span,
)
from annotation.protocols.iirc.replay import rewritten
from readers.iirc.questions import Articles, Asked, read_questions

REWRITTEN = "replay/iirc_from_ircot.json"
OFFICIAL = "official/iirc/iirc_dev_first_passage.json"
SQUAD = "official/squad/allennlp_squad2.json"
DROP = ("allennlp_fixture_drop", "drop_dataset_dev", "drop_dataset_train")


def real(folder: Path) -> tuple[list[Asked], Articles]:
    """Return all real questions, IIRC's own first, and what is known of the linked articles.

    folder: to write them into. Skips without the real data.
    """
    data = os.environ.get("COLLECTOR_DATA")
    if not data:
        pytest.skip("COLLECTOR_DATA is not set: it names the folder of real data.")
    rows = json.loads(Path(data, REWRITTEN).read_text())
    own = [rewritten({**row, "answer": str(row["answer"])}, REWRITTEN) for row in rows]
    articles = {
        title: "\n".join(paragraphs) for _, texts in own for title, paragraphs in texts.items()
    }
    passages = [passage_json(_placed(*one), ArticleKeys()) for one in own]
    passages += json.loads(Path(data, OFFICIAL).read_text())
    for span in (each for one in passages[-1]["questions"] for each in one["context"]):
        articles.setdefault(span["passage"], span["text"])
    squad = Path(data, SQUAD)
    others = list(squad_passages(SQUAD, squad.read_bytes()))
    for name in DROP:
        path = Path(data, "official", "drop", f"{name}.json")
        others += drop_passages(path.name, path.read_bytes())
    path = folder / "real.json"
    path.write_text(json.dumps([*passages, *(passage_json(one, ArticleKeys()) for one in others)]))
    return read_questions([path]), Articles(articles)


def _placed(one: Passage, articles: Mapping[str, Sequence[str]]) -> Passage:
    """Return a passage that was rewritten, with places for all that its question marks."""
    [asked] = one.questions
    texts = {title: "\n".join(paragraphs) for title, paragraphs in articles.items()}
    texts |= {MAIN: one.text, QUESTION: asked.text}

    def place(span: Span) -> Span:
        start = texts[span.passage].find(span.text)
        return replace(span, start=start, end=start + len(span.text))

    evidence = [place(each) for each in asked.evidence]
    # Of a number the file does not say what it was reckoned from: all that is linked.
    linked = [Span(title, texts[title], 0, len(texts[title])) for title in asked.question_links]
    question = replace(
        asked,
        qid=f"q_{one.title}",
        evidence=(Span(MAIN, one.text, 0, len(one.text)), *(evidence or linked)),
        answer=replace(asked.answer, spans=tuple(map(place, asked.answer.spans))),
    )
    return replace(one, pid=f"p_{one.title}", questions=(question,))
