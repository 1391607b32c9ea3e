"""The kept questions of a collection, as readers learn from and answer them."""

from collections.abc import Iterable, Iterator

from django.db.models import Prefetch, QuerySet

from annotation.decisions.counted_work import counted_work_of
from annotation.decisions.records import main_stages
from collector.code_points import CodePoints
from collector.models import Collection, SeedParagraph
from readers.example import YES_NO, Example, Text
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
            texts=tuple(_texts(each for each in row.seed.seed_paragraphs.all())),
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


def _texts(rows: Iterable[SeedParagraph]) -> Iterator[Text]:
    for row in rows:
        paragraph = row.paragraph
        whole = [[0, len(paragraph.text)]]
        sentences = paragraph.sentences or whole
        yield Text(
            paragraph.article.title,
            paragraph.text,
            tuple((start, end) for start, end in sentences),
        )
