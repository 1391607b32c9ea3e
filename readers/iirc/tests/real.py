"""All real questions at hand, in the official layout.

Of IIRC itself sixteen are published where tests can read them: two in a file of the official
layout, fourteen with an answer and pieces of the linked articles. What is missing to 32 and as many
others is real questions of SQuAD and DROP, which IIRC 5 combines with its own.
"""

import json
import os
from pathlib import Path

import pytest

from annotation.protocols.iirc import replay as real_work
from annotation.protocols.iirc.combined import drop_passages, squad_passages
from annotation.protocols.iirc.export import ArticleKeys, passage_json
from annotation.protocols.iirc.official_files import (
    MAIN,
    QUESTION,
    Answer,
    Link,
    Passage,
    Question,
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
        title: "\n".join(paragraphs) for one in own for title, paragraphs in one.articles.items()
    }
    passages = [passage_json(_as_tree(one), ArticleKeys()) for one in own]
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


def _as_tree(one: real_work.Passage) -> Passage:
    """Return a passage that was rewritten as the official layout's tree."""
    questions = tuple(_question(asked, one) for asked in one.questions)
    links = tuple(Link(title, start, end) for start, end, title in one.links)
    return Passage(f"p_{one.title}", one.title, one.text, links, questions)


def _question(asked: real_work.Question, one: real_work.Passage) -> Question:
    texts = {title: "\n".join(paragraphs) for title, paragraphs in one.articles.items()}
    texts |= {MAIN: one.text, QUESTION: asked.text}

    def span(quotation: real_work.Quotation) -> Span:
        start = texts[quotation.document].find(quotation.text)
        return Span(quotation.document, quotation.text, start, start + len(quotation.text))

    answer = asked.answer
    evidence = [span(each) for each in answer.evidence if each.document in one.articles]
    # Of a number the file does not say what it was reckoned from: all that is linked.
    linked = [Span(title, texts[title], 0, len(texts[title])) for title in asked.links]
    return Question(
        f"q_{one.title}",
        asked.text,
        asked.links,
        (Span(MAIN, one.text, 0, len(one.text)), *(evidence or linked)),
        Answer(answer.type, tuple(map(span, answer.spans)), answer.value, answer.unit),
    )
