"""The official layout, written and read back: one file per fold and the linked articles."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any

from annotation.protocols.iirc.official_files import (
    MAIN,
    QUESTION,
    Answer,
    Article,
    Dataset,
    LayoutError,
    Link,
    Passage,
    Question,
    Span,
    articles_of,
    passage_id,
    passages_of,
    question_id,
    read_articles,
    read_passages,
    readable,
    to_markup,
)
from annotation.records.parquet_tables import INTEGER, Column, spans, spans_of
from annotation.records.schema import (
    IMPORTED,
    PUBLISHED,
    ArticleRecord,
    Published,
    QuestionRecord,
    SeedRecord,
    VoteRecord,
    chosen_vote,
    number,
    published_vote,
)


def seed_records(dataset: Dataset) -> Iterator[SeedRecord]:
    """Yield every passage of an imported dataset with its questions, each kept in its fold.

    The file's own objects come along under IMPORTED; the ids are those of the file.
    """
    for fold, passages in dataset.folds.items():
        for place, passage in enumerate(passages):
            yield _seed(passage, fold, f"{fold}/{place}")


def article_records(dataset: Dataset) -> Iterator[ArticleRecord] | None:
    """Return the linked articles as the file has them, None when there was no file of them."""
    return None if dataset.articles is None else map(_article, dataset.articles)


def _article(article: Article) -> ArticleRecord:
    return {
        "title": article.title,
        "text": article.text,
        "links": [(link.start, link.end, link.target) for link in article.links],
        "imported": article.imported,
    }


def _seed(passage: Passage, fold: str, key: str) -> SeedRecord:
    # A few official offsets are negative or run over: they stay in the file's own object alone.
    links = [
        (link.start, link.end, link.target)
        for link in passage.links
        if 0 <= link.start < link.end <= len(passage.text)
    ]
    return {
        "id": passage.pid,
        "key": key,
        "fold": fold,
        "payload": {IMPORTED: json.dumps(passage.imported)},
        "passages": [
            {
                "title": passage.title,
                "section": "",
                "text": passage.text,
                "links": sorted(links, key=lambda link: link[:2]),
            }
        ],
        "questions": [
            _question_record(question, fold, f"{key}/{number}")
            for number, question in enumerate(passage.questions)
        ],
    }


def _question_record(question: Question, fold: str, key: str) -> QuestionRecord:
    answer = question.answer
    payload: dict[str, Any] = {
        "spans": [_span(span) for span in answer.spans],
        "value": "" if answer.type == "binary" else answer.value,
        "unit": answer.unit,
        "yes_no": answer.value if answer.type == "binary" else None,
        "reason": "",
        "context": [_span(span) for span in question.evidence],
    }
    return {
        "id": question.qid or "",
        "key": key,
        "text": question.text,
        "payload": {
            "context": [],
            "links": list(question.question_links),
            IMPORTED: json.dumps(question.imported),
        },
        "stage": "",
        "worker": None,
        "synthetic": False,
        "verdict": PUBLISHED.copy(),
        "split": fold,
        "votes": [published_vote(answer.type, payload)],
    }


def _span(span: Span) -> dict[str, Any]:
    return {
        "document": span.passage,
        "start": span.start,
        "end": span.end,
        "text": span.text,
    }


def identified(seeds: Iterable[SeedRecord]) -> Iterator[SeedRecord]:
    """Yield the seeds with the ids they are released under, set from their content alone.

    Every question counts, kept or not, so that no verdict changes the id of another question.
    Published files keep their own ids.
    """
    passages: Counter[str] = Counter()
    for seed in seeds:
        first = seed["passages"][0]
        plain = passage_id(first["title"], first["text"])
        pid = passage_id(first["title"], first["text"], passages[plain])
        passages[plain] += 1
        questions: list[QuestionRecord] = []
        taken: set[tuple[str, int]] = set()
        for question in seed["questions"]:
            text = question["text"]
            qid = question_id(pid, text, number(question, text, taken, of_seed=True))
            own = _imported(question["payload"]) or {}
            questions.append({**question, "id": own.get("qid") or qid})
        own = _imported(seed["payload"]) or {}
        yield {**seed, "id": own.get("pid") or pid, "questions": questions}


def passage_trees(seeds: Iterable[SeedRecord]) -> Iterator[Passage]:
    """Yield the passage of each seed with its questions; expects ids from `identified`."""
    for seed in seeds:
        passage = seed["passages"][0]
        yield Passage(
            pid=seed["id"],
            title=passage["title"],
            text=passage["text"],
            links=tuple(
                Link(target, start, end)
                for start, end, target in sorted(passage["links"], key=lambda link: link[:2])
            ),
            questions=tuple(_question(question) for question in seed["questions"]),
            imported=_imported(seed["payload"]),
        )


def article_trees(records: Iterable[ArticleRecord]) -> Iterator[Article]:
    """Yield the linked articles."""
    for record in records:
        links = tuple(Link(target, start, end) for start, end, target in record["links"])
        yield Article(record["title"], record["text"], links, record["imported"])


def _imported(payload: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the published file's own object, None for what was collected here."""
    text = payload.get(IMPORTED)
    return None if text is None else json.loads(text)


def _question(question: QuestionRecord) -> Question:
    """Return a kept question; raises ValueError naming it when no answer was chosen."""
    vote = chosen_vote(question)
    if vote is None:
        raise ValueError(f"Question {question['id']} is kept without an answer: decide it again.")
    return Question(
        qid=question["id"],
        text=question["text"],
        question_links=tuple(question["payload"].get("links", ())),
        # The question itself proves nothing; readers of the files know no such document.
        evidence=tuple(span for span in _spans(vote, "context") if span.passage != QUESTION),
        answer=_answer(vote),
        imported=_imported(question["payload"]),
    )


def _answer(vote: VoteRecord) -> Answer:
    payload = vote["payload"]
    binary = vote["type"] == "binary"
    return Answer(
        type=vote["type"],
        spans=_spans(vote, "spans"),
        value=(payload.get("yes_no") if binary else payload.get("value")) or "",
        unit=payload.get("unit") or "",
    )


def _spans(vote: VoteRecord, name: str) -> tuple[Span, ...]:
    return tuple(
        Span(span["document"], span["text"], span["start"], span["end"])
        for span in vote["payload"].get(name) or ()
    )


ARTICLES_FILE = "context_articles.json"
FOLDS = ("train", "dev", "test")
SPLITS = FOLDS
OWN_TEXTS = (MAIN, QUESTION)
FILES_HOLD = {
    ARTICLES_FILE: (
        "the articles that links lead to, as HTML; a literal less-than sign in them is written as "
        "its full-width form"
    ),
}
LINK = {
    "start": Column("offset of its first character in the passage", INTEGER),
    "end": Column("offset after its last character", INTEGER),
    "target": Column("the title of the article it leads to"),
}
QUESTION_COLUMNS = {
    "links": Column("the passage's links", is_list=True, parts=LINK),
    "question_links": Column("the titles of the articles the answer is in", is_list=True),
    "answer_unit": Column("the unit of an answer that is a number"),
    "answer_context": spans("the evidence for the answer, in the passage and in linked articles"),
}


def files(
    seeds_by_split: Mapping[str, Iterable[SeedRecord]], articles: Iterable[ArticleRecord] | None
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield each official file's name with its bytes in pieces, to be consumed in this order.

    seeds_by_split: with the ids of `identified` and the kept questions alone. articles: of every
    link that leads somewhere; None writes no file of them. Raises ValueError as export() does.
    """
    folds = {split: passage_trees(seeds) for split, seeds in seeds_by_split.items()}
    linked = None if articles is None else article_trees(articles)
    return streams(Dataset(folds, linked))


def published(files: Mapping[str, bytes]) -> Published:
    """Return official files as records; raises LayoutError naming the file and the place."""
    # What is wrong inside a file is told when it comes to that: none is held whole.
    dataset = _dataset(files, passages_of, articles_of)
    splits = {name: "" if PurePath(name).name == ARTICLES_FILE else fold_of(name) for name in files}
    return Published(splits, seed_records(dataset), article_records(dataset))


def question_columns(seed: SeedRecord, question: QuestionRecord) -> dict[str, object]:
    """Return what a question's row holds beside what it holds in every protocol."""
    released = chosen_vote(question)
    assert released is not None
    return {
        "links": [dict(zip(LINK, link, strict=True)) for link in seed["passages"][0]["links"]],
        "question_links": list(question["payload"].get("links") or ()),
        "answer_unit": released["payload"].get("unit") or "",
        "answer_context": spans_of(released["payload"].get("context")),
    }


def export(dataset: Dataset) -> dict[str, bytes]:
    """Return the official files by name: `<fold>.json` and context_articles.json.

    Raises ValueError naming the question for a false offset, a bad question or an answer of
    unknown type among the rows collected here.
    """
    return {name: b"".join(chunks) for name, chunks in streams(dataset)}


def streams(dataset: Dataset) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield each official file's name with its bytes in pieces, to be consumed in this order."""
    keys = ArticleKeys()
    for fold, passages in dataset.folds.items():
        yield f"{fold}.json", _listed(passages, keys)
    if dataset.articles is not None:
        yield ARTICLES_FILE, _keyed(dataset.articles, keys)


def import_(files: Mapping[str, bytes]) -> Dataset:
    """Return the dataset of official files, given by name; export(import_(x)) equals x as data.

    A file's fold is the word train, dev or test in its name. Raises LayoutError naming the file.
    """
    return _dataset(files, read_passages, read_articles)


def _dataset(
    files: Mapping[str, bytes],
    passages_in: Callable[[str, bytes], Iterable[Passage]],
    articles_in: Callable[[str, bytes], Iterable[Article]],
) -> Dataset:
    folds: dict[str, Iterable[Passage]] = {}
    articles: Iterable[Article] | None = None
    for name, content in files.items():
        if PurePath(name).name == ARTICLES_FILE:
            articles = articles_in(name, content)
            continue
        fold = fold_of(name)
        if fold in folds:
            raise LayoutError(f"{name}: there is a file for {fold} already; give one per fold.")
        folds[fold] = passages_in(name, content)
    return Dataset(folds, articles)


def fold_of(name: str) -> str:
    """Return the fold that a file's name says; raises LayoutError when it says none."""
    words = PurePath(name).stem.lower().replace("-", "_").replace(".", "_").split("_")
    for fold in FOLDS:
        if fold in words:
            return fold
    raise LayoutError(
        f"{name}: which fold is it? Name it train.json, dev.json, test.json or {ARTICLES_FILE}."
    )


class ArticleKeys:
    """The keys of articles in the file of articles, by which the spans of answers name them.

    A key is the title in lower case. Of titles that differ in case alone the one that comes first
    has it, those that answers are in before all others; the others keep their case: readers look
    for the exact title first.
    """

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}
        self._taken: set[str] = set()

    def of_span(self, title: str) -> str:
        """Return what an answer's span calls its document."""
        if title in OWN_TEXTS:
            return title
        # An article called Main is not the paragraph.
        return self._key(title, title if title.lower() in OWN_TEXTS else title.lower())

    def of_article(self, title: str) -> str:
        """Return the key of an article."""
        return self._key(title, title.lower())

    def _key(self, title: str, wanted: str) -> str:
        if title not in self._keys:
            self._keys[title] = title if wanted in self._taken else wanted
            self._taken.add(wanted)
        return self._keys[title]


def passage_json(passage: Passage, keys: ArticleKeys) -> dict[str, object]:
    """Return a passage with its questions as the official file has it."""
    questions = [question_json(question, passage, keys) for question in passage.questions]
    if passage.imported is not None:
        kept = dict(passage.imported)
        return {**kept, "questions": questions} if questions or "questions" in kept else kept
    return {
        "pid": passage.pid,
        "questions": questions,
        "links": [
            {"indices": [link.start, link.end], "target": link.target} for link in passage.links
        ],
        "text": passage.text,
        "title": passage.title,
    }


def question_json(question: Question, passage: Passage, keys: ArticleKeys) -> dict[str, object]:
    """Return a question as the official file has it; an imported one exactly as it came.

    Raises ValueError for what export() refuses.
    """
    if question.imported is not None:
        return dict(question.imported)
    for span in (*question.evidence, *question.answer.spans):
        _check(span, question, passage)
    return {
        "answer": answer_json(question.answer, question.qid, keys),
        "question": question.text,
        "question_links": list(question.question_links),
        "qid": question.qid,
        "context": [
            {
                "passage": span.passage,
                "text": _as_read(span),
                "indices": [span.start, span.end],
            }
            for span in question.evidence
        ],
    }


def answer_json(answer: Answer, qid: str | None, keys: ArticleKeys) -> dict[str, object]:
    """Return an answer as the official file has it; raises ValueError naming `qid`."""
    if answer.type == "span":
        spans = [
            {
                "start": span.start,
                "end": span.end,
                "text": _as_read(span),
                "passage": keys.of_span(span.passage),
            }
            for span in answer.spans
        ]
        return {"type": "span", "answer_spans": spans}
    if answer.type == "value":
        return {"type": "value", "answer_value": answer.value, "answer_unit": answer.unit}
    if answer.type == "binary":
        return {"type": "binary", "answer_value": answer.value}
    if answer.type == "none":
        return {"type": "none"}
    raise ValueError(f"Question {qid} has the answer type {answer.type!r}: drop it before export.")


def _check(span: Span, question: Question, passage: Passage) -> None:
    """Raise ValueError unless the span's offsets are true, where its text is at hand."""
    texts = {MAIN: passage.text, QUESTION: question.text}
    text = texts.get(span.passage)
    if text is not None and text[span.start : span.end] != span.text:
        raise ValueError(
            f"Question {question.qid}: {span.start}:{span.end} of the {span.passage} text is not "
            f"{span.text!r}. Mark the span again; offsets are half-open, in code points."
        )


def _as_read(span: Span) -> str:
    """Return the span's text as it stands in the released text it is taken from."""
    return span.text if span.passage in OWN_TEXTS else readable(span.text)


def _listed(passages: Iterable[Passage], keys: ArticleKeys) -> Iterator[bytes]:
    """Yield a JSON list of passages, one a line."""
    yield b"["
    for index, passage in enumerate(passages):
        yield (b",\n" if index else b"\n") + _json(passage_json(passage, keys))
    yield b"\n]\n"


def _keyed(articles: Iterable[Article], keys: ArticleKeys) -> Iterator[bytes]:
    """Yield a JSON object from key to marked-up text, one article a line.

    Raises ValueError for two articles of one title, or of one key.
    """
    used: set[str] = set()
    yield b"{"
    for article in articles:
        is_imported = article.imported is not None
        key = article.title if is_imported else keys.of_article(article.title)
        key = article.title if key in used else key
        if key in used:
            raise ValueError(f"There are two articles {article.title!r}: give each one once.")
        markup = article.imported
        if markup is None:
            markup = to_markup(article.text, article.links)
        yield (b",\n" if used else b"\n") + _json(key) + b": " + _json(markup)
        used.add(key)
    yield b"\n}\n"


def _json(value: Any) -> bytes:
    """Return `value` as UTF-8 JSON."""
    return json.dumps(value, ensure_ascii=False).encode()
