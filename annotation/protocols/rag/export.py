"""The released files, written and read back: questions with evidence, and what evaluators load.

`corpus.jsonl`, `queries.jsonl` and `qrels/` are a folder in BEIR's layout; `qrels.SPLIT.trec` is
what trec_eval takes.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any
from uuid import UUID, uuid5

from annotation.protocols.rag.entries import (
    ANSWER,
    NATURAL,
    Passages,
    answering,
    cited_ids,
    document_of,
    entry,
    id_of,
    imported,
    page_of,
    paragraph,
    passage_id,
    relevant,
    shown_ids,
)
from annotation.protocols.rag.official_records import (
    FILE,
    LayoutError,
    article_records,
    parse,
    seed_records,
)
from annotation.records.parquet_tables import BOOLEAN, Column, spans
from annotation.records.schema import (
    ArticleRecord,
    PassageRecord,
    Published,
    QuestionRecord,
    SeedRecord,
    number,
)

SPLITS = ("train", "dev", "test")
# A system searches all passages, not those alone that somebody asked about.
WHOLE_CORPUS = True
FILES_HOLD = {
    "corpus.jsonl": "every passage of the documents, as BEIR reads them",
    "queries.jsonl": "the questions of all splits, as BEIR reads them",
    "qrels/*.tsv": "which passages prove the answer of each question, as BEIR reads them",
    "qrels.*.trec": "the same, as trec_eval reads them",
    "*.json": "the questions, with answers and evidence to the page and character",
}
VERSION = "1.0"
QUESTION_COLUMNS = {
    "full_answer": Column("the released answer as a whole sentence"),
    "is_impossible": Column("whether the documents do not have the answer", BOOLEAN),
    "category": Column("what type of question it is, as its writer says"),
    "source": Column("`natural` where its writer had read nothing, else `passages`"),
    "evidence": spans("the words that prove the answer; document: the id of the passage"),
    "plausible_evidence": spans("the words that only seem to answer it"),
}
NAMESPACE = UUID("8f4c2f0e-52a1-4e0b-9a52-6a0a7d9e1c35")
ID_DIGITS = 24
CORPUS, QUERIES = "corpus.jsonl", "queries.jsonl"
QRELS_HEAD = b"query-id\tcorpus-id\tscore\n"


def identified(seeds: Iterable[SeedRecord]) -> Iterator[SeedRecord]:
    """Yield the seeds with the ids that their questions are released under, from content alone.

    Every question counts, kept or not, so that no verdict changes the id of another question.
    Published files keep their own ids.
    """
    taken: set[tuple[str, int]] = set()
    for seed in seeds:
        questions: list[QuestionRecord] = []
        for question in seed["questions"]:
            own = imported(question["payload"])
            if own is None:
                shown = shown_ids(seed, question)
                content = json.dumps([shown, question["text"]])
                at = number(question, content, taken, of_seed=bool(shown))
                key = uuid5(NAMESPACE, f"{content}\n{at}").hex[:ID_DIGITS]
            questions.append({**question, "id": own["id"] if own else key})
        yield {**seed, "questions": questions}


def files(
    seeds_by_split: Mapping[str, Iterable[SeedRecord]], articles: Iterable[ArticleRecord] | None
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield each file's name with its bytes in pieces, to be consumed in this order.

    seeds_by_split: with the ids of `identified` and the kept questions alone, read anew each time.
    articles: every document of the corpus with its passages; None where the files that were read
    had none. Raises ValueError naming the question
    for a false offset or a missing answer.
    """
    wanted = {
        of
        for seeds in seeds_by_split.values()
        for seed in seeds
        for question in seed["questions"]
        if imported(question["payload"]) is None
        for of in (*shown_ids(seed, question), *cited_ids(question))
    }
    passages: dict[str, PassageRecord] = {}
    if articles is not None:
        yield CORPUS, _corpus(articles, wanted, passages)
    for split, seeds in seeds_by_split.items():
        yield f"{split}.json", _file(seeds, passages)
    yield QUERIES, _queries(seeds_by_split, passages)
    for split, seeds in seeds_by_split.items():
        yield f"qrels/{split}.tsv", _qrels(seeds, passages)
        yield f"qrels.{split}.trec", _trec(seeds, passages)


def published(files: Mapping[str, bytes]) -> Published:
    """Return released files as records; raises LayoutError naming the file and the place.

    What is made of the questions and the corpus is made again, not read.
    """
    splits: dict[str, str] = {}
    for name in files:
        split = split_of(name)
        if split and split in splits.values():
            raise LayoutError(f"{name}: there is a file for {split} already; give one for each.")
        splits[name] = split
    parsed = {name: parse(name, files[name]) for name, split in splits.items() if split}
    if not parsed:
        known = ", ".join(f"{split}.json" for split in SPLITS)
        raise LayoutError(f"{', '.join(files)}: none has questions; give one of {known}.")
    seeds = (seed for name, whole in parsed.items() for seed in seed_records(whole, splits[name]))
    corpus = next((name for name in files if PurePath(name).name == CORPUS), None)
    articles = None if corpus is None else article_records(corpus, files[corpus])
    return Published(splits, seeds, articles)


def split_of(name: str) -> str:
    """Return the split whose questions a file holds, blank where it holds none."""
    path = PurePath(name)
    words = path.stem.lower().replace("_", "-").split("-")
    return next((each for each in SPLITS if path.suffix == ".json" and each in words), "")


def question_columns(seed: SeedRecord, question: QuestionRecord) -> dict[str, object]:
    """Return what a question's row holds beside what it holds in every protocol."""
    votes = answering(question)
    released = votes[0]["payload"] if votes else {}
    told: dict[str, object] = {
        "answer": released.get("short", ""),
        "full_answer": released.get("full", ""),
        "is_impossible": not votes or votes[0]["type"] != ANSWER,
        "category": question["payload"].get("category") or "",
        "source": NATURAL if question["stage"] == NATURAL else "passages",
        "evidence": _marks(released.get("evidence")),
        "plausible_evidence": _marks(released.get("plausible")),
    }
    # Its writer has read nothing.
    return {**told, "passages": []} if question["stage"] == NATURAL else told


def _marks(evidence: Iterable[Mapping[str, Any]] | None) -> list[dict[str, Any]]:
    return [
        {
            "document": passage_id(one["document"], one["paragraph"]),
            **{name: one[name] for name in ("start", "end", "text")},
        }
        for one in evidence or ()
    ]


def _corpus(
    articles: Iterable[ArticleRecord], wanted: set[str], passages: dict[str, PassageRecord]
) -> Iterator[bytes]:
    """Yield every passage, a line each, and keep those that are wanted in `passages`."""
    for article in articles:
        if article["imported"] is not None:
            yield article["imported"].encode() + b"\n"
        for passage in article.get("passages", ()):
            if (key := id_of(passage)) in wanted:
                passages[key] = passage
            yield _json(_document(key, passage)) + b"\n"


def _document(key: str, passage: PassageRecord) -> dict[str, Any]:
    about = {
        "document": document_of(passage),
        "position": passage["position"],
        "section": passage["section"],
        "page": page_of(passage, 0),
        "pages": [list(each) for each in passage.get("pages") or ()],
        "url": passage.get("permalink", ""),
        "licence": passage.get("licence", ""),
    }
    return {"_id": key, "title": passage["title"], "text": passage["text"], "metadata": about}


def _file(seeds: Iterable[SeedRecord], passages: Passages) -> Iterator[bytes]:
    """Yield a file of questions, a set of passages a line."""
    began = False
    for seed in seeds:
        if not began:
            yield _head(seed)
        yield (b",\n" if began else b"\n") + _json(_about(seed, passages))
        began = True
    if not began:
        yield _head(None)
    yield b"\n]}\n"


def _head(first: SeedRecord | None) -> bytes:
    """Return how the file begins: all that stands beside its list."""
    own = json.loads(first["payload"][FILE]) if first and FILE in first["payload"] else None
    whole = {"version": VERSION} if own is None else {k: v for k, v in own.items() if k != "data"}
    inside = _json(whole)[1:-1]
    return b"{" + inside + (b", " if inside else b"") + b'"data": ['


def _about(seed: SeedRecord, passages: Passages) -> dict[str, Any]:
    """Return a set of passages with its questions, and all passages that these are about."""
    questions = [entry(seed, question, passages) for question in seed["questions"]]
    own = imported(seed["payload"])
    if own is not None:
        return {**own, "qas": questions}
    named = dict.fromkeys(
        of
        for question in questions
        for of in (
            *question["shown"],
            *relevant(question),
            *(one["passage_id"] for one in question["plausible_evidence"]),
        )
    )
    return {
        "rule": seed["payload"].get("rule", ""),
        "paragraphs": [paragraph(passages[of]) for of in named],
        "qas": questions,
    }


def _entries(seeds: Iterable[SeedRecord], passages: Passages) -> Iterator[dict[str, Any]]:
    for seed in seeds:
        for question in seed["questions"]:
            yield entry(seed, question, passages)


def _queries(
    seeds_by_split: Mapping[str, Iterable[SeedRecord]], passages: Passages
) -> Iterator[bytes]:
    """Yield all questions of all splits; those without an answer have no line in any qrels."""
    for split, seeds in seeds_by_split.items():
        for one in _entries(seeds, passages):
            about = {
                "split": split,
                "is_impossible": one["is_impossible"],
                "category": one.get("category"),
                "source": one.get("source"),
            }
            yield _json({"_id": one["id"], "text": one["question"], "metadata": about}) + b"\n"


def _qrels(seeds: Iterable[SeedRecord], passages: Passages) -> Iterator[bytes]:
    yield QRELS_HEAD
    for one in _entries(seeds, passages):
        for of in relevant(one):
            yield f"{one['id']}\t{of}\t1\n".encode()


def _trec(seeds: Iterable[SeedRecord], passages: Passages) -> Iterator[bytes]:
    for one in _entries(seeds, passages):
        for of in relevant(one):
            yield f"{one['id']} 0 {of} 1\n".encode()


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
