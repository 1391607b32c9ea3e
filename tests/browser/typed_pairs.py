"""Official questions about pairs, written once more through the pages by simulated workers.

`type_again` runs on the databases of a served instance.
"""

import json
from pathlib import Path

from django.core.management import call_command

from tasks.models import Answer

SLUG = "typed-again"


def type_again(path: str) -> list[dict[str, object]]:
    """Let a crowd write what the file holds; return what the rows say, as the file would."""
    call_command(
        "simulate", SLUG, workers=4, threads=4, protocol="hotpotqa", replay=Path(path), json=True
    )
    answers = Answer.objects.filter(stage__collection__slug=SLUG).select_related("question__seed")
    return [_told(answer) for answer in answers.order_by("question__seed__position")]


def _told(answer: Answer) -> dict[str, object]:
    question = answer.question
    paragraphs = [
        shown.paragraph
        for shown in question.seed.seed_paragraphs.select_related("paragraph__article")
    ]
    titles = [paragraph.article.title for paragraph in paragraphs]
    words = [span["text"] for span in answer.payload["spans"]]
    return {
        "question": question.text,
        "answer": words[0] if answer.type == "span" else answer.type,
        "type": question.payload["type"],
        "supporting_facts": sorted([titles[at], n] for at, n in question.payload["facts"]),
        "gold": {one.article.title: one.text for one in paragraphs},
        "synthetic": question.synthetic,
    }


def official(path: Path) -> list[dict[str, object]]:
    """Return the same of the file; white space around a question is not kept."""
    return [
        {
            "question": one["question"].strip(),
            "answer": one["answer"],
            "type": one["type"],
            "supporting_facts": sorted(one["supporting_facts"]),
            "gold": {
                title: "".join(sentences)
                for title, sentences in one["context"]
                if title in {fact[0] for fact in one["supporting_facts"]}
            },
            "synthetic": False,
        }
        for one in json.loads(path.read_text("utf-8"))
    ]
