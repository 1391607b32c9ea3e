"""The official files: names, what each holds, ids from content, as records (HotpotQA 3)."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple
from uuid import UUID, uuid5

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

NAMESPACE = UUID("b2d3a6de-5a0f-4f0a-9f5f-0d1b8f3c7a64")
ID_DIGITS = 24
DISTRACTOR, FULL_WIKI = "distractor", "fullwiki"
TRAIN = ("train-easy", "train-medium", "train-hard")
HARD = "hard"


class File(NamedTuple):
    """An official file: its name, the splits that it holds, and the setting of its contexts."""

    name: str
    splits: tuple[str, ...]
    setting: str


# The authors distribute all but the fourth: see "Decisions of ours" in the README.
FILES = (
    File("hotpot_train_v1.1.json", TRAIN, DISTRACTOR),
    File("hotpot_dev_distractor_v1.json", ("dev",), DISTRACTOR),
    File("hotpot_dev_fullwiki_v1.json", ("dev",), FULL_WIKI),
    File("hotpot_test_distractor_v1.json", ("test-distractor",), DISTRACTOR),
    File("hotpot_test_fullwiki_v1.json", ("test-fullwiki",), FULL_WIKI),
)
SPLITS = (*TRAIN, "dev", "test-distractor", "test-fullwiki")
# Of these only questions and contexts are published (HotpotQA 3: a test set for each setting, so
# that what one shows says nothing about the other).
WITHHELD = {"test-distractor": (DISTRACTOR,), "test-fullwiki": (FULL_WIKI,)}


class LayoutError(ValueError):
    """A file is not in the official layout; the message names the place and what to do."""


def settings_of(split: str) -> list[str]:
    """Return the settings in which the split's questions are published."""
    return [file.setting for file in FILES if split in file.splits]


def level_of(split: str) -> str:
    """Return what the files say of a split's questions: easy, medium or hard."""
    return split.removeprefix("train-") if split in TRAIN else HARD


def question_id(text: str, number: int) -> str:
    """Return the id of the question that is the `number`-th, from 0, with this text.

    Nothing of the paragraphs is in it: of a withheld question nobody may find them by trying.
    """
    return uuid5(NAMESPACE, json.dumps([text, number])).hex[:ID_DIGITS]


def sentences_of(passage: PassageRecord) -> list[str]:
    """Return the sentences as released: each with the blank before it, together the whole text.

    Raises ValueError for a passage in which no sentences were looked for.
    """
    text, bounds = passage["text"], passage.get("sentences")
    if not bounds:
        raise ValueError(
            f"The sentences of {passage['title']!r} were never found: find the contexts again."
        )
    ends = [end for _, end in bounds[:-1]] + [len(text)]
    return [text[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def file_of(name: str, items: Sequence[Mapping[str, Any]]) -> File:
    """Return which official file this one is, by its name and what it holds.

    Raises LayoutError where neither says it.
    """
    words = set(re.split(r"[\W_]+", PurePath(name).name.lower()))
    labelled = {"answer" in item for item in items}
    if len(labelled) != 1:
        raise LayoutError(
            f"{name}: some questions have an answer and some have none; make two files of it."
        )
    part = next((part for part in ("train", "test") if part in words), "dev")
    if not labelled.pop() and part != "test":
        raise LayoutError(f"{name}: no question has an answer, as in a test file; name it so.")
    settings = {part: DISTRACTOR} if part == "train" else _settings(words)
    setting = settings.get(part) or (_setting_in(items) if part == "dev" else None)
    for file in FILES:
        if file.splits[0].startswith(part) and file.setting == setting:
            return file
    raise LayoutError(f"{name}: in which setting? Name it one of {', '.join(_names())}.")


def _settings(words: Iterable[str]) -> dict[str, str]:
    """Return the setting that the words of a file's name say, for dev and for test."""
    found = [setting for setting in (DISTRACTOR, FULL_WIKI) if setting in words]
    return dict.fromkeys(("dev", "test"), found[0]) if len(found) == 1 else {}


def _setting_in(items: Iterable[Mapping[str, Any]]) -> str:
    """Return the setting of labelled questions: only retrieval misses what answers them."""
    found = all(
        {title for title, _ in item["supporting_facts"]} <= {title for title, _ in item["context"]}
        for item in items
    )
    return DISTRACTOR if found else FULL_WIKI


def _names() -> list[str]:
    return [file.name for file in FILES]


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
