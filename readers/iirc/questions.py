"""What the baselines learn from and answer: official questions with their passage and articles."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from annotation.metrics.drop import answer_strings
from annotation.protocols.iirc.export import ARTICLES_FILE
from annotation.protocols.iirc.official_files import (
    MAIN,
    NONE,
    TAG,
    LayoutError,
    Link,
    Span,
    drop_answer,
    parse,
    read_passages,
)
from readers.trained import ReaderError

BAD = "bad"


@dataclass(frozen=True)
class Asked:
    """One question to be answered, with what its file says of the answer.

    key: under which it is predicted. picked: titles of the links that the writer picked.
    evidence: as in the file; none where there is no answer. type: blank where the file withholds
    the answer. answers: the strings that are right.
    """

    key: str
    text: str
    passage: str
    links: tuple[Link, ...]
    picked: tuple[str, ...] = ()
    evidence: tuple[Span, ...] = ()
    type: str = ""
    answers: tuple[str, ...] = ()
    gold: Mapping[str, Any] = field(default_factory=dict)

    @property
    def documents(self) -> tuple[str, ...]:
        """Return the linked articles that the question needs (IIRC 4.2).

        Those with evidence; where there is no answer, and so no evidence, those that were picked.
        """
        if self.type == NONE or not self.evidence:
            return tuple(dict.fromkeys(self.picked))
        found = dict.fromkeys(span.passage for span in self.evidence)
        return tuple(title for title in found if title != MAIN)


class Articles:
    """The linked articles by title, without their tags."""

    def __init__(self, markup: Mapping[str, str]) -> None:
        self._markup = markup
        self.text = lru_cache(maxsize=4096)(self._text)

    def _text(self, title: str) -> str | None:
        """Return an article's text, looked for by its title and then in lower case; or None."""
        markup = self._markup.get(title, self._markup.get(title.lower()))
        return None if markup is None else TAG.sub("", markup)


def read_questions(paths: Iterable[Path]) -> list[Asked]:
    """Return the questions of official files, bad ones left out; raises ReaderError.

    The articles among the files are passed over.
    """
    found: list[Asked] = []
    for path in paths:
        if path.name != ARTICLES_FILE:
            try:
                found += _asked(path)
            except LayoutError as error:
                raise ReaderError(str(error)) from None
    if not found:
        raise ReaderError(f"There is no question in {', '.join(map(str, paths)) or 'no file'}.")
    return found


def read_linked(paths: Sequence[Path]) -> Articles:
    """Return the linked articles: of the file among these that has them, or that lies beside one.

    Raises ReaderError where there is none.
    """
    beside = [path.with_name(ARTICLES_FILE) for path in paths]
    for path in [*(path for path in paths if path.name == ARTICLES_FILE), *beside]:
        if path.exists():
            try:
                loaded = parse(str(path), path.read_bytes())
            except LayoutError as error:
                raise ReaderError(str(error)) from None
            if not isinstance(loaded, dict):
                raise ReaderError(f"{path}: it must be an object from title to article.")
            return Articles(loaded)
    raise ReaderError(
        f"The linked articles are needed: give {ARTICLES_FILE} with --train, or put it beside."
    )


def _asked(path: Path) -> list[Asked]:
    """Return the questions of one file; numbered as the conversion does where they have no id."""
    found: list[Asked] = []
    for passage in read_passages(str(path), _content(path)):
        for question in passage.questions:
            if question.answer.type == BAD:
                continue
            raw = (question.imported or {}).get("answer")
            answer = None if raw is None else drop_answer(raw)
            found.append(
                Asked(
                    key=question.qid or f"qid_{len(found) + 1}",
                    text=question.text,
                    passage=passage.text,
                    links=passage.links,
                    picked=question.question_links,
                    evidence=question.evidence,
                    type=question.answer.type,
                    answers=answer_strings(answer)[0] if answer else (),
                    gold={"answer": answer} if answer else {},
                )
            )
    return found


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ReaderError(f"{path}: it cannot be read ({error.strerror}).") from None


def places(spans: Iterable[Span], title: str, text: str) -> list[tuple[int, int]]:
    """Return where the evidence of one document stands in its text.

    By the offsets where they are true, else where its words first occur; nothing for evidence that
    is not there.
    """
    found = []
    for span in spans:
        if span.passage != title or not span.text:
            continue
        start = span.start if text[max(span.start, 0) : span.end] == span.text else -1
        start = text.find(span.text) if start < 0 else start
        if start >= 0:
            found.append((start, start + len(span.text)))
    return found


def write_answers(path: Path, answers: Mapping[str, object]) -> None:
    """Write predictions in the official layout: an object from the question's id to its answer."""
    path.write_text(json.dumps(answers, ensure_ascii=False, indent=0) + "\n", "utf-8")
