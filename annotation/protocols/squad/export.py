"""The official layout, written and read back: articles, their paragraphs, questions about each."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import PurePath
from typing import Any
from uuid import UUID, uuid5

from annotation.protocols.squad.official_records import (
    ARTICLE,
    FILE,
    NUMBER,
    LayoutError,
    parse,
    seed_records,
)
from annotation.records.parquet_tables import BOOLEAN, Column, spans, spans_of
from annotation.records.schema import (
    IMPORTED,
    ArticleRecord,
    Published,
    QuestionRecord,
    SeedRecord,
    VoteRecord,
    answering,
    chosen_vote,
    number,
)

SPLITS = ("train", "dev", "test")
VERSION = "v2.0"
QUESTION_COLUMNS = {
    "is_impossible": Column("whether the passage does not answer the question", BOOLEAN),
    "plausible_answers": spans("the words that only seem to answer it"),
}
NAMESPACE = UUID("3f0b9a5e-7c1d-4b64-8f0a-52d1c0f7e9ab")
ID_DIGITS = 24


def identified(seeds: Iterable[SeedRecord]) -> Iterator[SeedRecord]:
    """Yield the seeds with the ids that their questions are released under, from content alone.

    Every question counts, kept or not, so that no verdict changes the id of another question.
    Published files keep their own ids.
    """
    taken: set[tuple[str, int]] = set()
    for seed in seeds:
        passage = seed["passages"][0]
        questions: list[QuestionRecord] = []
        for question in seed["questions"]:
            content = json.dumps([passage["title"], passage["text"], question["text"]])
            at = number(question, content, taken, of_seed=True)
            key = uuid5(NAMESPACE, f"{content}\n{at}").hex[:ID_DIGITS]
            own = _imported(question["payload"])
            questions.append({**question, "id": own["id"] if own else key})
        yield {**seed, "questions": questions}


def files(
    seeds_by_split: Mapping[str, Iterable[SeedRecord]], articles: Iterable[ArticleRecord] | None
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield each official file's name with its bytes in pieces, to be consumed in this order.

    seeds_by_split: with the ids of `identified` and the kept questions alone, the paragraphs of an
    article one after the other. articles: there is no file of them. Raises ValueError naming the
    question for a false offset or a missing answer.
    """
    for split, seeds in seeds_by_split.items():
        yield f"{split}-{VERSION}.json", _file(seeds)


def published(files: Mapping[str, bytes]) -> Published:
    """Return official files as records; raises LayoutError naming the file and the place."""
    splits: dict[str, str] = {}
    for name in files:
        split = split_of(name)
        if split in splits.values():
            raise LayoutError(f"{name}: there is a file for {split} already; give one for each.")
        splits[name] = split
    parsed = {name: parse(name, content) for name, content in files.items()}
    seeds = (
        seed for name, whole in parsed.items() for seed in seed_records(name, whole, splits[name])
    )
    return Published(splits, seeds, None)


def question_columns(seed: SeedRecord, question: QuestionRecord) -> dict[str, object]:
    """Return what a question's row holds beside what it holds in every protocol."""
    released = chosen_vote(question)
    assert released is not None
    return {
        "is_impossible": released["type"] != "span",
        "plausible_answers": spans_of(released["payload"].get("plausible")),
    }


def split_of(name: str) -> str:
    """Return the split that a file's name says; raises LayoutError when it says none."""
    words = PurePath(name).stem.lower().replace("_", "-").split("-")
    for split in SPLITS:
        if split in words:
            return split
    known = ", ".join(f"{split}-{VERSION}.json" for split in SPLITS)
    raise LayoutError(f"{name}: which split is it? Name it one of {known}.")


def _imported(payload: Mapping[str, Any], name: str = IMPORTED) -> dict[str, Any] | None:
    """Return the published file's own object, None for what was collected here."""
    text = payload.get(name)
    return None if text is None else json.loads(text)


def _file(seeds: Iterable[SeedRecord]) -> Iterator[bytes]:
    """Yield a file, an article a line."""
    began = False
    for _, about in groupby(seeds, key=_article_key):
        paragraphs = list(about)
        if not began:
            yield _head(paragraphs[0])
        yield (b",\n" if began else b"\n") + _json(_article(paragraphs))
        began = True
    if not began:
        yield _head(None)
    yield b"\n]}\n"


def _head(first: SeedRecord | None) -> bytes:
    """Return how the file begins: all that stands beside its list of articles."""
    own = _imported(first["payload"], FILE) if first else None
    whole = {"version": VERSION} if own is None else {k: v for k, v in own.items() if k != "data"}
    inside = _json(whole)[1:-1]
    return b"{" + inside + (b", " if inside else b"") + b'"data": ['


def _article_key(seed: SeedRecord) -> tuple[str, int]:
    """Return what the paragraphs of an article share."""
    return seed["passages"][0]["title"], seed["payload"].get(NUMBER, -1)


def _article(seeds: list[SeedRecord]) -> dict[str, Any]:
    own = _imported(seeds[0]["payload"], ARTICLE)
    about = {"title": seeds[0]["passages"][0]["title"]} if own is None else own
    return {**about, "paragraphs": [_paragraph(seed) for seed in seeds]}


def _paragraph(seed: SeedRecord) -> dict[str, Any]:
    text = seed["passages"][0]["text"]
    questions = [_question(question, text) for question in seed["questions"]]
    own = _imported(seed["payload"])
    return {"qas": questions, "context": text} if own is None else {**own, "qas": questions}


def _question(question: QuestionRecord, text: str) -> dict[str, Any]:
    """Return a question as the official file has it; an imported one exactly as it came."""
    own = _imported(question["payload"])
    if own is not None:
        return own
    released = chosen_vote(question)
    if released is None:
        raise ValueError(f"Question {question['id']} is kept without an answer: decide it again.")
    named = {"question": question["text"], "id": question["id"]}
    if released["type"] == "span":
        answers = [
            answer
            for vote in answering(question)
            for answer in _answers(vote, "spans", text, named)
        ]
        return {**named, "answers": answers, "is_impossible": False}
    plausible = _answers(released, "plausible", text, named)
    return {"plausible_answers": plausible, **named, "answers": [], "is_impossible": True}


def _answers(
    vote: VoteRecord, name: str, text: str, named: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return marked words as the files have them; raises ValueError for a false offset."""
    found = []
    for span in vote["payload"].get(name) or ():
        if text[span["start"] : span["end"]] != span["text"]:
            raise ValueError(
                f"Question {named['id']}: {span['start']}:{span['end']} of its passage is not "
                f"{span['text']!r}. Mark it again; offsets are half-open, in code points."
            )
        found.append({"text": span["text"], "answer_start": span["start"]})
    return found


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
