"""The kept questions of a collection: as readers learn from them, and which splits are settled."""

from collections.abc import Iterator

from django.db.models import Prefetch, QuerySet

from annotation.decisions.counted_work import counted_work_of
from annotation.decisions.records import main_stages
from annotation.models import SplitAssignment, ToldQuestion
from annotation.protocols.contracts import EXPORT
from collector.code_points import CodePoints
from collector.models import Collection, Paragraph, SeedParagraph
from collector.protocols.loading import get_protocol
from readers.reader import YES_NO, Example, Text
from tasks.models import Answer, Question

CHUNK = 500


def kept_questions(collection: Collection) -> QuerySet[Question]:
    """Return the questions in the dataset, by key, without those of people who have withdrawn."""
    return Question.objects.filter(
        counted_work_of(collection),
        stage__collection=collection,
        stage__name__in=main_stages(collection),
        verdict__outcome="kept",
    ).order_by(CodePoints("key"))


def examples(rows: QuerySet[Question]) -> Iterator[Example]:
    """Yield the questions with their texts and the answers that are released, in chunks."""
    paragraphs = SeedParagraph.objects.select_related("paragraph__article").order_by("position")
    read = rows.select_related("seed", "verdict__chosen").prefetch_related(
        Prefetch("seed__seed_paragraphs", paragraphs)
    )
    for row in read.iterator(CHUNK):
        yield Example(
            key=row.key,
            question=row.text,
            texts=tuple(_text(each.paragraph) for each in row.seed.seed_paragraphs.all()),
            answer=answer_of(row.verdict.chosen),
            facts=tuple((text, sentence) for text, sentence in row.payload.get("facts") or ()),
        )


def answer_of(answer: Answer | None) -> str:
    """Return an answer as one text: yes, no, or the words that were marked."""
    if answer is None:
        return ""
    if answer.type in YES_NO:
        return answer.type
    return " ".join(span["text"] for span in answer.payload.get("spans") or ())


def _text(paragraph: Paragraph) -> Text:
    sentences = paragraph.sentences or [[0, len(paragraph.text)]]
    return Text(
        paragraph.article.title, paragraph.text, tuple((start, end) for start, end in sentences)
    )


def told_splits(collection: Collection) -> dict[int, str]:
    """Return the split in which a release told each question, blank of one in none, by id.

    There is nothing where the protocol withholds nothing.
    """
    return dict(_told(collection).values_list("question_id", "split").iterator())


def settled(collection: Collection) -> QuerySet[SplitAssignment]:
    """Return the splits that stay as they are: those in which a release told the question."""
    told = _told(collection).exclude(split="")
    return SplitAssignment.objects.filter(question_id__in=told.values("question_id"))


def withheld(collection: Collection) -> QuerySet[SplitAssignment]:
    """Return those of them whose answers are known to nobody but who collected them."""
    names = get_protocol(collection.protocol).part(EXPORT).WITHHELD
    return settled(collection).filter(split__in=names)


def _told(collection: Collection) -> QuerySet[ToldQuestion]:
    if not get_protocol(collection.protocol).part(EXPORT).WITHHELD:
        return ToldQuestion.objects.none()
    return ToldQuestion.objects.filter(question__stage__collection=collection)
