"""Texts, answers and whole submissions as a requester reads them, with what was marked in them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any

from django.db.models import Prefetch, Q, QuerySet

from collector.ingest.article_text import join_article
from collector.ingest.link_resolution import Resolver
from collector.models import Corpus, Document, Paragraph, Section, Seed, SeedParagraph, Stage
from tasks.models import Answer, Dialog, Question, Submission
from tasks.simulation.identity import genuine
from tasks.work.kinds.voting import answer_text, type_words, written_beside
from tasks.work.passages import section_text
from tasks.work.widgets.reply import SECTION
from tasks.work.widgets.spans import MAIN

AROUND = 90
QUESTION = "question"


# What spans call the seed's own text.
OWN = (MAIN, SECTION)
PLACES = {MAIN: "The passage", SECTION: "The section", QUESTION: "The question"}
ACTS = {
    "affirmation": {"yes": "Yes", "no": "No"},
    "continuation": {
        "follow_up": "Follow up",
        "maybe": "Maybe follow up",
        "dont": "Don't follow up",
    },
}
# What an answer has marked: its words, and those that only look like it.
MARKED = ("spans", "plausible")


@dataclass(frozen=True)
class Piece:
    """Consecutive text under the same marks; `ends` are the marks that end with it.

    A mark is link, evidence, answer, or the number of the question whose evidence it is.
    """

    text: str
    marks: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()

    @property
    def is_marked(self) -> bool:
        """Return whether more than a link lies on it."""
        return any(mark != "link" for mark in self.marks)

    @property
    def classes(self) -> str:
        """Return the marks as CSS classes."""
        names = ("evidence" if mark.isdigit() else mark for mark in self.marks)
        return " ".join(f"mark-{name}" for name in dict.fromkeys(names))

    @property
    def numbers(self) -> list[str]:
        """Return the numbers of the questions whose evidence ends here."""
        return [mark for mark in self.ends if mark.isdigit()]


@dataclass(frozen=True)
class Quote:
    """Words of a document with what stands around them, cut at spaces."""

    document: str
    before: str
    words: str
    after: str


def pieces(text: str, spans: Iterable[tuple[int, int, str]]) -> list[Piece]:
    """Return the text cut at the ends of `spans` (start, end, mark); joined it is the text again.

    Spans may overlap; what lies outside the text is left out.
    """
    kept = [(max(0, start), min(len(text), end), mark) for start, end, mark in spans]
    kept = [span for span in kept if span[0] < span[1]]
    cuts = sorted({0, len(text)} | {edge for start, end, _ in kept for edge in (start, end)})
    return [
        Piece(
            text[start:end],
            tuple(dict.fromkeys(mark for s, e, mark in kept if s <= start and end <= e)),
            tuple(dict.fromkeys(mark for _, e, mark in kept if e == end)),
        )
        for start, end in pairwise(cuts)
    ]


def quote(document: str, text: str, start: int, end: int, around: int = AROUND) -> Quote:
    """Return text[start:end] with up to `around` characters on either side."""
    before = text[max(0, start - around) : start]
    if start > around:
        before = "… " + before.partition(" ")[2]
    after = text[end : end + around]
    if end + around < len(text):
        after = after.rpartition(" ")[0] + " …"
    return Quote(document, before, text[start:end], after)


@dataclass(frozen=True)
class Passage:
    """A seed's text, whose `pieces` carry the marks.

    It is its one paragraph, or the section that follows the first, the article's `beginning`.
    """

    title: str
    section: str
    lang: str
    dir: str
    pieces: list[Piece]
    beginning: str = ""


def seed_paragraphs(of: str = "") -> Prefetch:
    """Return what to prefetch where passages are shown; `of` is the path to the seeds."""
    rows = SeedParagraph.objects.select_related(
        "paragraph__article__corpus", "paragraph__section"
    ).order_by("position")
    return Prefetch(f"{of}__seed_paragraphs" if of else "seed_paragraphs", queryset=rows)


def text_of(seed: Seed) -> str:
    """Return the text that spans of OWN refer to; expects seed_paragraphs() prefetched.

    Blank for a seed without paragraphs, as published files have where they withhold them.
    """
    texts = [each.paragraph.text for each in seed.seed_paragraphs.all()]
    return texts[0] if len(texts) == 1 else section_text(texts)


def passage(seed: Seed, spans: Iterable[tuple[int, int, str]] = ()) -> Passage:
    """Return the seed's passage with its links and the given spans (start, end, mark) marked."""
    first, *others = [each.paragraph for each in seed.seed_paragraphs.all()]
    shown = others or [first]
    return Passage(
        title=first.article.title,
        section=shown[0].section.heading,
        lang=first.article.corpus.language,
        dir=first.article.corpus.direction,
        pieces=pieces(text_of(seed), [*_links(shown), *spans]),
        beginning=first.text if others else "",
    )


def paragraph_alone(row: Paragraph, spans: Iterable[tuple[int, int, str]]) -> Passage:
    """Return a paragraph with nothing but the given spans marked; expects article and corpus."""
    corpus = row.article.corpus
    return Passage(
        row.article.title, "", corpus.language, corpus.direction, pieces(row.text, spans)
    )


def passages(seed: Seed) -> list[Passage]:
    """Return the seed's paragraphs with their links marked, each by itself: those of a pair."""
    rows = [each.paragraph for each in seed.seed_paragraphs.all()]
    return [paragraph_alone(row, _links([row])) for row in rows]


def pair_passages(question: Question, chosen: Answer | None) -> list[Passage]:
    """Return the paragraphs of a question about a pair, its facts and the chosen answer marked."""
    rows = [each.paragraph for each in question.seed.seed_paragraphs.all()]
    return [
        paragraph_alone(row, _proofs(question, chosen, number, row))
        for number, row in enumerate(rows)
    ]


def _proofs(
    question: Question, chosen: Answer | None, number: int, paragraph: Paragraph
) -> list[tuple[int, int, str]]:
    """Return the facts and the answer that lie in the pair's paragraph of that number."""
    sentences = paragraph.sentences or []
    facts = [
        (*sentences[sentence], "evidence")
        for place, sentence in question.payload.get("facts") or ()
        if place == number and sentence < len(sentences)
    ]
    spans = (chosen.payload.get("spans") or ()) if chosen else ()
    answers = [
        (span["start"], span["end"], "answer") for span in spans if span["document"] == number
    ]
    return [*facts, *answers]


def proven_passages(question: Question, chosen: Answer | None) -> list[Passage]:
    """Return a seed's passages with what the chosen answer marks in them, to prove it or seem to.

    What it marks in others, which somebody found by search, stands beside the answer.
    """
    rows = [each.paragraph for each in question.seed.seed_paragraphs.all()]
    own = Document.objects.filter(article__in=[row.article_id for row in rows])
    names = dict(own.values_list("article_id", "external_id"))
    payload = chosen.payload if chosen else {}
    marked = [*(payload.get("evidence") or ()), *(payload.get("plausible") or ())]
    return [
        paragraph_alone(
            row,
            [
                (piece["start"], piece["end"], "evidence")
                for piece in marked
                if piece["document"] == names.get(row.article_id, row.article.title)
                and piece["paragraph"] == row.position
            ],
        )
        for row in rows
    ]


def _links(paragraphs: Iterable[Paragraph]) -> Iterator[tuple[int, int, str]]:
    """Yield the links of paragraphs that are joined by a blank."""
    base = 0
    for paragraph in paragraphs:
        for start, end, _ in paragraph.links:
            yield base + start, base + end, "link"
        base += len(paragraph.text) + 1


def article_texts(corpus: Corpus, titles: Iterable[str]) -> dict[str, str]:
    """Return the plain text behind each title, through redirects; what is missing is left out.

    Three queries, and one more for each step of a chain of redirects.
    """
    found = Resolver(corpus).resolve(titles)
    texts = _joined(set(found.values()))
    return {title: texts[article] for title, article in found.items()}


def _joined(ids: set[int]) -> dict[int, str]:
    headings: dict[int, dict[int, str]] = {pk: {} for pk in ids}
    sections: QuerySet = Section.objects.filter(article__in=ids)
    for pk, position, heading in sections.values_list("article_id", "position", "heading"):
        headings[pk][position] = heading
    lines: dict[int, list[tuple[int, str]]] = {pk: [] for pk in ids}
    rows = Paragraph.objects.filter(article__in=ids).order_by("article_id", "position")
    for pk, section, text in rows.values_list("article_id", "section__position", "text"):
        lines[pk].append((section, text))
    return {pk: join_article(headings[pk], lines[pk]).text for pk in ids}


def quoted(span: dict, texts: dict[str, str]) -> Quote:
    """Return a stored span with its surroundings; alone where its document cannot be read."""
    document = span.get("document", MAIN)
    text = texts.get(document, "")
    start, end = span["start"], span["end"]
    if text[start:end] != span["text"]:
        return Quote(document, "", span["text"], "")
    return quote(document, text, start, end)


@dataclass(frozen=True)
class ReadableAnswer:
    """`text` is the answer itself; `sources` name where its words were marked.

    `acts` is what was said beside it in a dialog.
    """

    answer: Answer
    type: str
    text: str
    sources: list[str]
    evidence: list[Quote]
    acts: list[str]


def readable(answers: Iterable[Answer], corpus: Corpus) -> list[ReadableAnswer]:
    """Return the answers with their evidence quoted from the texts it was marked in.

    Expects each answer's question, its seed and the seed's paragraphs prefetched; the articles
    are fetched for all answers at once.
    """
    rows = list(answers)
    titles = {span["document"] for row in rows for span in _spans(row)} - PLACES.keys()
    articles = article_texts(corpus, titles)
    return [_readable(row, articles) for row in rows]


def _readable(answer: Answer, articles: dict[str, str]) -> ReadableAnswer:
    own = dict.fromkeys(OWN, text_of(answer.question.seed))
    texts = {**articles, **own, QUESTION: answer.question.text}
    payload = genuine(answer.payload)
    spans = payload.get("spans") or ()
    return ReadableAnswer(
        answer=answer,
        type=type_words(answer.type),
        text=answer_text(answer),
        sources=list(dict.fromkeys(place(span["document"]) for span in spans)),
        evidence=[
            *(quoted(span, texts) for span in payload.get("context") or ()),
            *(Quote(piece["document"], "", piece["text"], "") for piece in cited(answer)),
        ],
        acts=[words[payload[name]] for name, words in ACTS.items() if payload.get(name) in words],
    )


def cited(answer: Answer) -> list[dict[str, Any]]:
    """Return the pieces of passages that prove an answer, or only look like one."""
    payload = answer.payload
    return [*(payload.get("evidence") or ()), *(payload.get("plausible") or ())]


def place(document: str) -> str:
    """Return what to call a document that a span lies in."""
    return PLACES.get(document, document)


def _spans(answer: Answer) -> list[dict]:
    payload = answer.payload
    return [*(payload.get("spans") or ()), *(payload.get("context") or ())]


@dataclass(frozen=True)
class WrittenQuestion:
    """A question with its number on the sheet, by which its evidence is marked.

    `answers` holds its writer's own answer, where asking and answering are one act.
    """

    number: int
    question: Question
    links: Sequence[str]
    answers: Sequence[Answer] = ()

    @property
    def own(self) -> list[tuple[str, str]]:
        """Return what its writer filled in beside it, by the name of the field, and answered."""
        answered = [("Answer", answer_text(one) or type_words(one.type)) for one in self.answers]
        return [*written_beside(self.question), *answered]


@dataclass(frozen=True)
class GivenAnswer:
    """An answer with its number on the sheet, by which its words are marked; 0 if alone."""

    number: int
    answer: ReadableAnswer


@dataclass(frozen=True)
class Sheet:
    """One passage and what was made of it: questions written, or answers given.

    Of a dialog both partners' sheets hold all of it: the questions with their answers.
    """

    passage: Passage
    questions: Sequence[WrittenQuestion] = ()
    answers: Sequence[GivenAnswer] = ()


def submission_of(stage: Stage, worker_id: str) -> Submission | None:
    """Return what the worker handed in at a qualifying stage; one query."""
    rows = Submission.objects.filter(lease__unit__stage=stage, lease__worker_id=worker_id)
    return rows.select_related("lease").order_by("-counts", "-id").first()


def sheets_of(submission: Submission, corpus: Corpus) -> list[Sheet]:
    """Return the submission's work by passage, in the order of the page it was done on."""
    rows = submission.questions.select_related("seed").order_by("position")
    own = Prefetch("answers", Answer.objects.filter(submission=submission), to_attr="own_answers")
    if questions := list(rows.prefetch_related(seed_paragraphs("seed"), own)):
        return _question_sheets(questions)
    answers = Answer.objects.filter(submission=submission).order_by("id")
    return _answer_sheets(answers, corpus) or _answer_sheets(_said(submission), corpus)


def _question_sheets(questions: Iterable[Question]) -> list[Sheet]:
    by_seed: dict[int, list[WrittenQuestion]] = {}
    for number, question in enumerate(questions, start=1):
        links, own = question.payload.get("links") or (), question.own_answers  # type: ignore[attr-defined]
        written = WrittenQuestion(number, question, links, own)
        by_seed.setdefault(question.seed_id, []).append(written)
    found = []
    for questions_of_seed in by_seed.values():
        marks = [
            (span["start"], span["end"], str(row.number))
            for row in questions_of_seed
            for marked in (
                row.question.payload.get("context"),
                *(one.payload.get(name) for one in row.answers for name in MARKED),
            )
            for span in marked or ()
            if span.get("document", MAIN) in OWN
        ]
        seed = questions_of_seed[0].question.seed
        found.append(Sheet(passage(seed, marks), questions=questions_of_seed))
    return found


def _answer_sheets(answers: QuerySet[Answer], corpus: Corpus) -> list[Sheet]:
    rows = answers.select_related("question__seed").prefetch_related(
        seed_paragraphs("question__seed")
    )
    by_seed: dict[int, list[ReadableAnswer]] = {}
    for row in readable(rows, corpus):
        by_seed.setdefault(row.answer.question.seed_id, []).append(row)
    numbers = count(1)
    return [
        _answer_sheet([GivenAnswer(next(numbers) if len(given) > 1 else 0, row) for row in given])
        for given in by_seed.values()
    ]


def _answer_sheet(given: Sequence[GivenAnswer]) -> Sheet:
    marks = [mark for row in given for mark in _answer_marks(row)]
    return Sheet(passage(given[0].answer.answer.question.seed, marks), answers=given)


def _said(submission: Submission) -> QuerySet[Answer]:
    """Return the answers of every dialog that was had with this submission's ticket."""
    lease = submission.lease_id
    mine = Q(student_ticket__lease=lease) | Q(teacher_ticket__lease=lease)
    said = Q(pk__in=())
    for dialog in Dialog.objects.filter(mine).select_related("topic"):
        said |= Q(
            question__stage=dialog.stage_id,
            question__seed=dialog.topic.seed_id,
            question__worker=dialog.student_id,
            worker=dialog.teacher_id,
        )
    return Answer.objects.filter(said).order_by("question__created_at", "question__position")


def _answer_marks(given: GivenAnswer) -> Iterable[tuple[int, int, str]]:
    payload = given.answer.answer.payload
    for name, mark in (("context", "evidence"), ("spans", "answer")):
        for span in payload.get(name) or ():
            if span.get("document", MAIN) in OWN:
                yield span["start"], span["end"], mark
                if mark == "answer" and given.number:
                    yield span["start"], span["end"], str(given.number)
