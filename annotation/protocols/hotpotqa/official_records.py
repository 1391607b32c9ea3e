"""Official files as records, so that they can be stored, compared, and written again equal."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation.protocols.hotpotqa.file_format import TRAIN, WITHHELD, File, LayoutError, file_of
from annotation.records.json_items import Items, load
from annotation.records.schema import (
    IMPORTED,
    PUBLISHED,
    PassageRecord,
    QuestionRecord,
    SeedRecord,
    VoteRecord,
    published_vote,
)

# The stage in which the writer asks and answers.
QUESTION = "question"
# What the published test files hold; the rest of a test item is its gold.
PUBLIC = ("_id", "question", "context")
# Of a withheld question that came with its labels: the whole item, in the payload of its answer.
GOLD = "gold"


def read(name: str, content: bytes) -> Sequence[dict[str, Any]]:
    """Return the questions of one file; raises LayoutError naming file and place."""
    try:
        loaded = load(content)
    except (ValueError, RecursionError) as error:
        raise LayoutError(f"{name}: it is not valid JSON ({error}); write it again.") from None
    if not isinstance(loaded, list | Items) or not loaded:
        raise LayoutError(f"{name}: it must be a list of questions, at least one.")
    for number, item in enumerate(loaded):
        _check(item, f"{name}: question {number}")
    return loaded


def seed_records(files: Mapping[str, bytes]) -> Iterator[SeedRecord]:
    """Yield a seed for every question of the files, kept in its split."""
    counts: dict[str, int] = {}
    for name, content in files.items():
        items = read(name, content)
        file = file_of(name, items)
        for item in items:
            at = counts.get(file.name, 0)
            counts[file.name] = at + 1
            yield seed_record(item, file, at, f"{name}: question {item['_id']}")


def seed_record(item: Mapping[str, Any], file: File, at: int, where: str) -> SeedRecord:
    """Return the seed of one question, number `at` of its official file.

    Its passages are the gold ones, blank where they are not in the context.
    """
    key = f"{file.name}/{at}"
    split = _split(item, file, where)
    # Of two paragraphs of one title the first counts.
    sentences = dict(reversed(item["context"]))
    titles = list(dict.fromkeys(title for title, _ in item.get("supporting_facts", ())))
    passages = [_passage(title, sentences.get(title, [])) for title in titles]
    facts = [[titles.index(title), number] for title, number in item.get("supporting_facts", ())]
    shown = {name: item[name] for name in item if split not in WITHHELD or name in PUBLIC}
    question: QuestionRecord = {
        "id": item["_id"],
        "key": key,
        "text": item["question"],
        "payload": {
            "type": item.get("type", ""),
            "facts": facts,
            "id": item["_id"],
            "file": file.name,
            "at": at,
            IMPORTED: json.dumps(shown),
        },
        "stage": QUESTION,
        "worker": None,
        "synthetic": False,
        "verdict": PUBLISHED.copy(),
        "split": split,
        "votes": [_vote(item, facts, passages, is_withheld=split in WITHHELD)],
    }
    return {
        "id": key,
        "key": key,
        "fold": "",
        "payload": {},
        "passages": passages,
        "questions": [question],
    }


def _split(item: Mapping[str, Any], file: File, where: str) -> str:
    if file.splits != TRAIN:
        return file.splits[0]
    split = f"train-{item.get('level')}"
    if split not in TRAIN:
        raise LayoutError(f"{where}: level must be easy, medium or hard in a training file.")
    return split


def _passage(title: str, sentences: list[str]) -> PassageRecord:
    bounds, start = [], 0
    for sentence in sentences:
        before = len(sentence) - len(sentence.lstrip())
        end = start + len(sentence)
        bounds.append((start + before, max(start + before, end)))
        start = end
    text = "".join(sentences)
    return {"title": title, "section": "", "text": text, "links": [], "sentences": bounds}


def _vote(
    item: Mapping[str, Any],
    facts: list[list[int]],
    passages: list[PassageRecord],
    *,
    is_withheld: bool,
) -> VoteRecord:
    """Return the writer's answer; the files have no offsets, so the first place of it is taken."""
    answer = item.get("answer", "")
    kind = answer if answer in ("yes", "no") else "span" if answer else "unknown"
    payload: dict[str, Any] = {
        "spans": [_span(answer, passages)] if kind == "span" else [],
        "facts": facts,
    }
    if is_withheld and answer:
        payload[GOLD] = json.dumps(item)
    return published_vote(kind, payload, stage=QUESTION)


def _span(answer: str, passages: list[PassageRecord]) -> dict[str, Any]:
    for number, passage in enumerate(passages):
        start = passage["text"].find(answer)
        if start >= 0:
            return {
                "document": number,
                "start": start,
                "end": start + len(answer),
                "text": answer,
            }
    return {"document": None, "start": None, "end": None, "text": answer}


def _check(item: Any, where: str) -> None:
    """Raise LayoutError unless the question has what every reader of the files relies on."""
    try:
        if isinstance(item["context"], dict):
            raise LayoutError(
                f"{where}: its context is in columns, which is another library's layout; write "
                "[title, [sentence, …]] for each paragraph, and _id for id."
            )
        _strings([item["_id"], item["question"]], where)
        for title, sentences in item["context"]:
            _strings([title, *sentences], where)
        if "answer" in item:
            _strings([item["answer"]], where)
            for title, number in item["supporting_facts"]:
                _strings([title], where)
                if not isinstance(number, int):
                    raise LayoutError(f"{where}: the sentence of a fact must be a whole number.")
        _strings([item[name] for name in ("type", "level") if name in item], where)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, LayoutError):
            raise
        raise LayoutError(f"{where}: {error} is missing or of the wrong kind.") from None


def _strings(values: list[Any], where: str) -> None:
    if not all(isinstance(value, str) for value in values):
        raise LayoutError(f"{where}: ids, texts, titles and sentences must be texts.")
