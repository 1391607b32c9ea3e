"""The official layout, written and read back: lists of questions with their contexts."""

import json
from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from itertools import chain
from typing import Any

from annotation.protocols.hotpotqa.file_format import (
    DISTRACTOR,
    FILES,
    GOLD,
    PUBLIC,
    SPLITS,
    WITHHELD,
    File,
    file_of,
    level_of,
    question_id,
    read,
    seed_records,
    sentences_of,
    settings_of,
)
from annotation.records.parquet_tables import INTEGER, Column
from annotation.records.schema import (
    IMPORTED,
    ArticleRecord,
    PassageRecord,
    Published,
    QuestionRecord,
    SeedRecord,
    VoteRecord,
    chosen_vote,
    number,
)

__all__ = [
    "QUESTION_COLUMNS",
    "SPLITS",
    "WITHHELD",
    "files",
    "gold",
    "identified",
    "published",
    "question_columns",
]
FACT = {
    "title": Column("the title of the paragraph"),
    "sentence": Column("the number of the sentence in it, from 0", INTEGER),
}
PARAGRAPH = {
    "setting": Column("distractor or fullwiki"),
    "title": Column("its title"),
    "sentences": Column("its sentences, in order", is_list=True),
}
QUESTION_COLUMNS = {
    "type": Column("bridge or comparison; empty where it is withheld"),
    "level": Column("easy, medium or hard; empty where it is withheld"),
    "supporting_facts": Column("the sentences needed to answer", is_list=True, parts=FACT),
    "context": Column(
        "the paragraphs a system reads to answer, in each setting of its split",
        is_list=True,
        parts=PARAGRAPH,
    ),
}
YES_NO = ("yes", "no")


def identified(seeds: Iterable[SeedRecord]) -> Iterator[SeedRecord]:
    """Yield the seeds with the ids that their questions are released under, from their text alone.

    Each question has the contexts in which its split is published, and no others. Published files
    keep their own ids.
    """
    taken: set[tuple[str, int]] = set()
    for seed in seeds:
        questions = []
        for question in seed["questions"]:
            text = question["text"]
            key = question["payload"].get("id") or question_id(
                text, number(question, text, taken, of_seed=False)
            )
            questions.append(_released(question, key))
        yield {**seed, "questions": questions}


def files(
    seeds_by_split: Mapping[str, Iterable[SeedRecord]], articles: Iterable[ArticleRecord] | None
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield each official file's name with its bytes in pieces, to be consumed in this order.

    seeds_by_split: with the ids of `identified` and the kept questions alone. articles: there is
    no file of them. Raises ValueError naming the question for what does not fit together.
    """
    yield from _files(seeds_by_split, _published_row)


def gold(
    seeds_by_split: Mapping[str, Iterable[SeedRecord]],
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the files of withheld splits with everything that a scorer needs, as `files` does.

    Questions that were published without labels have none here either.
    """
    yield from _files(seeds_by_split, _gold_row)


def published(files: Mapping[str, bytes]) -> Published:
    """Return official files as records; raises LayoutError naming the file and the place."""
    for name, content in files.items():
        file_of(name, read(name, content))
    return Published(dict.fromkeys(files, ""), seed_records(files), None)


def question_columns(seed: SeedRecord, question: QuestionRecord) -> dict[str, object]:
    """Return what a question's row holds beside what it holds in every protocol."""
    payload, released, titles = question["payload"], chosen_vote(question), seed["passages"]
    own = json.loads(payload[IMPORTED]) if IMPORTED in payload else {}
    given = {"answer": released["type"]} if released and released["type"] in YES_NO else {}
    return {
        **given,
        "type": payload.get("type") or own.get("type"),
        "level": own.get("level") or (level_of(question["split"] or "") if released else None),
        "supporting_facts": [
            {"title": titles[number]["title"], "sentence": sentence}
            for number, sentence in payload.get("facts") or ()
        ],
        "context": _paragraphs(question, own),
    }


def _paragraphs(question: QuestionRecord, own: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the paragraphs of all settings, of a question that was read those of its file."""
    given = [
        (setting, passage["title"], sentences_of(passage))
        for setting, passages in question.get("contexts", {}).items()
        for passage in passages
    ]
    if own:
        split = question["split"] or ""
        named = {file.name: file.setting for file in FILES}
        setting = named.get(question["payload"].get("file", "")) or settings_of(split)[0]
        given = [(setting, title, sentences) for title, sentences in own["context"]]
    return [dict(zip(PARAGRAPH, each, strict=True)) for each in given]


def _released(question: QuestionRecord, key: str) -> QuestionRecord:
    released: QuestionRecord = {**question, "id": key}
    if "contexts" in released:
        settings = settings_of(question["split"] or "")
        given = released["contexts"]
        released["contexts"] = {name: given[name] for name in settings if name in given}
    return released


def _files(
    seeds_by_split: Mapping[str, Iterable[SeedRecord]], row: Any
) -> Iterator[tuple[str, Iterator[bytes]]]:
    for file in FILES:
        given = [seeds_by_split[split] for split in file.splits if split in seeds_by_split]
        each = [_rows(file, seeds, row) for seeds in given]
        # The order in which pairs were drawn would tell which are theirs.
        if file.splits[0] in WITHHELD:
            each = [iter(sorted(rows)) for rows in each]
        rows = merge(*each, key=lambda row: row[0])
        first = next(rows, None)
        # Of files that were read only those are written again.
        if given and (first or not any(_is_read(seeds) for seeds in given)):
            yield file.name, _list(text for _, text in chain([first] if first else [], rows))


def _rows(file: File, seeds: Iterable[SeedRecord], row: Any) -> Iterator[tuple[int, str]]:
    """Yield each question's place in a published file, 0 of one collected here, and its JSON.

    The JSON of one collected here begins with its id.
    """
    for seed in seeds:
        for question in seed["questions"]:
            payload = question["payload"]
            text = row(file, seed, question) if payload.get("file", file.name) == file.name else ""
            if text:
                yield payload.get("at", 0), text


def _list(texts: Iterable[str]) -> Iterator[bytes]:
    """Yield the file's one list, a question a line."""
    yield b"["
    began = False
    for text in texts:
        yield (b",\n" if began else b"\n") + text.encode()
        began = True
    yield b"\n]\n"


def _published_row(file: File, seed: SeedRecord, question: QuestionRecord) -> str:
    if IMPORTED in question["payload"]:
        return str(question["payload"][IMPORTED])
    withheld = file.splits[0] in WITHHELD
    row = _asked(file, question) if withheld else _labelled(file, seed, question)
    return json.dumps(row, ensure_ascii=False)


def _gold_row(file: File, seed: SeedRecord, question: QuestionRecord) -> str:
    if IMPORTED in question["payload"]:
        released = chosen_vote(question)
        return str(released["payload"].get(GOLD, "")) if released else ""
    return json.dumps(_labelled(file, seed, question), ensure_ascii=False)


def _asked(file: File, question: QuestionRecord) -> dict[str, Any]:
    """Return all that is published of a test question."""
    values = question["id"], question["text"], _context(file, question)
    return dict(zip(PUBLIC, values, strict=True))


def _labelled(file: File, seed: SeedRecord, question: QuestionRecord) -> dict[str, Any]:
    """Return the whole item; raises ValueError naming the question."""
    released = chosen_vote(question)
    if released is None:
        raise ValueError(f"Question {question['id']} is kept without an answer: decide it again.")
    context, pair = _context(file, question), seed["passages"]
    _check_facts(file, question, context, pair)
    facts = question["payload"]["facts"]
    return {
        "_id": question["id"],
        "answer": _answer(question, released, pair),
        "question": question["text"],
        "supporting_facts": [[pair[number]["title"], sentence] for number, sentence in facts],
        "context": context,
        "type": question["payload"]["type"],
        "level": level_of(question["split"] or ""),
    }


def _context(file: File, question: QuestionRecord) -> list[list[Any]]:
    """Return [title, sentences] of each paragraph in the file's setting; titles differ."""
    passages = question.get("contexts", {}).get(file.setting)
    if passages is None:
        raise ValueError(
            f"Question {question['id']} has no {file.setting} context yet: find the contexts first."
        )
    if len({passage["title"] for passage in passages}) < len(passages):
        raise ValueError(f"Question {question['id']}: two paragraphs of its context share a title.")
    return [[passage["title"], sentences_of(passage)] for passage in passages]


def _check_facts(
    file: File, question: QuestionRecord, context: list[list[Any]], pair: list[PassageRecord]
) -> None:
    """Raise ValueError unless every fact is a sentence, and where no search is, in the context."""
    sizes = {number: len(sentences_of(passage)) for number, passage in enumerate(pair)}
    lost = [
        fact for fact in question["payload"]["facts"] if not 0 <= fact[1] < sizes.get(fact[0], 0)
    ]
    if lost:
        raise ValueError(f"Question {question['id']}: there are no such sentences: {lost}.")
    titles = {title for title, _ in context}
    missing = [passage["title"] for passage in pair if passage["title"] not in titles]
    if missing and file.setting == DISTRACTOR:
        raise ValueError(f"Question {question['id']}: {missing} are not in its context.")


def _answer(question: QuestionRecord, released: VoteRecord, pair: list[PassageRecord]) -> str:
    """Return the answer's words, or yes or no; raises ValueError for a false offset."""
    if released["type"] in YES_NO:
        return released["type"]
    span = released["payload"]["spans"][0]
    if pair[span["document"]]["text"][span["start"] : span["end"]] != span["text"]:
        raise ValueError(
            f"Question {question['id']}: {span['start']}:{span['end']} of its paragraph is not "
            f"{span['text']!r}. Offsets are half-open, in code points."
        )
    return str(span["text"])


def _is_read(seeds: Iterable[SeedRecord]) -> bool:
    """Return whether the seeds were read from published files."""
    return any(IMPORTED in question["payload"] for seed in seeds for question in seed["questions"])
