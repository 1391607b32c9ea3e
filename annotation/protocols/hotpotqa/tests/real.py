"""Real questions, as their writers would have typed them and as readers are asked them."""

import json
from collections.abc import Iterator
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from readers.reader import Example, Text

# Both in the official nesting; of some questions the paragraphs found are not the two of the pair.
NESTED = (
    "replay/hotpot_amor_test500.json",
    "official/hotpotqa/reflexion_100_distractor_official_nesting.json",
)
COLUMNS = "official/hotpotqa/meve_100_hfschema_noids.json"
Typed = tuple[dict[str, Any], dict[str, Any]]


def typed(data: Path) -> list[Typed]:
    """Return (entry, item) of every real question whose two paragraphs are at hand, each once."""
    known = {record["question"]: record for record in records(data)}
    found = (_typed(record) for record in known.values())
    return [each for each in found if each]


def examples(data: Path, *, distracted: bool) -> list[Example]:
    """Return every real question whose gold paragraphs are at hand, each once, by its words.

    distracted: with all the paragraphs of its file, ten as a rule; else with the gold ones alone.
    """
    known = {record["question"].strip(): record for record in records(data)}
    found = (_example(known[question], distracted) for question in sorted(known))
    return [each for each in found if each]


def _example(record: dict[str, Any], distracted: bool) -> Example | None:
    gold = {title for title, _ in record["supporting_facts"]}
    texts = dict(record["context"])
    if len(gold) != 2 or not gold <= set(texts):
        return None
    shown = [title for title in texts if distracted or title in gold]
    return Example(
        key=record["question"].strip(),
        question=record["question"].strip(),
        texts=tuple(_text(title, texts[title]) for title in shown),
        answer=record["answer"],
        facts=tuple(
            (shown.index(title), number)
            for title, number in record["supporting_facts"]
            if number < len(texts[title])
        ),
    )


def _text(title: str, sentences: list[str]) -> Text:
    return Text(
        title, "".join(sentences), tuple(pairwise(accumulate(map(len, sentences), initial=0)))
    )


def records(data: Path) -> Iterator[dict[str, Any]]:
    """Yield every real question with paragraphs, some more than once, in the official nesting."""
    for name in NESTED:
        yield from json.loads((data / name).read_text("utf-8"))
    for record in json.loads((data / COLUMNS).read_text("utf-8")):
        context, facts = record["context"], record["supporting_facts"]
        yield record | {
            "context": list(zip(context["title"], context["sentences"], strict=True)),
            "supporting_facts": list(zip(facts["title"], facts["sent_id"], strict=True)),
        }


def _typed(record: dict[str, Any]) -> Typed | None:
    """Return the question as entry and item of a page, None where the file lacks a paragraph."""
    texts = dict(record["context"])
    titles = list(dict.fromkeys(title for title, _ in record["supporting_facts"]))
    if len(titles) != 2 or not set(titles) <= set(texts):
        return None
    paragraphs = [_paragraph(at, title, texts[title]) for at, title in enumerate(titles)]
    facts = [
        [titles.index(title), number]
        for title, number in record["supporting_facts"]
        if number < len(texts[title])
    ]
    answer = record["answer"]
    yes_no = answer in ("yes", "no")
    spans = [] if yes_no else _spans(answer, paragraphs, facts)
    if not yes_no and not spans:
        return None
    form = "any" if record["type"] == "bridge" else "yes_no" if yes_no else "span"
    entry = {
        "text": record["question"].strip(),
        "type": answer if yes_no else "span",
        "spans": spans,
        "facts": facts,
    }
    return entry, {"type": record["type"], "form": form, "paragraphs": paragraphs}


def _paragraph(at: int, title: str, sentences: list[str]) -> dict[str, Any]:
    ends = [len("".join(sentences[: number + 1])) for number in range(len(sentences))]
    return {
        "document": str(at),
        "title": title,
        "text": "".join(sentences),
        "sentences": [list(pair) for pair in zip([0, *ends], ends, strict=False)],
    }


def _spans(answer: str, paragraphs: list[dict[str, Any]], facts: list[list[int]]) -> list[Any]:
    """Return the answer where it stands in a sentence that proves it, else where it stands."""
    places = [(paragraphs[at], paragraphs[at]["sentences"][number]) for at, number in facts]
    places += [(paragraph, [0, len(paragraph["text"])]) for paragraph in paragraphs]
    for paragraph, (first, last) in places:
        start = paragraph["text"].find(answer, first, last)
        if start >= 0:
            end = start + len(answer)
            named = {"document": paragraph["document"], "text": answer}
            return [{**named, "start": start, "end": end}]
    return []
