"""Writes finished dialogs as rows, as the settlement of live ones does."""

from datetime import timedelta
from uuid import NAMESPACE_URL, uuid5

from collector.models import Collection, Seed
from tasks.models import Answer, Exposure, Question, Worker
from tasks.tests.making import NOW
from tasks.work.passages import section_of

Turn = tuple[str, str | None, str, str]


def make_dialog(
    seed: Seed, student: Worker, teacher: Worker, turns: list[Turn], ordinal: int = 0
) -> list[Question]:
    """Return the questions of a dialog about a seed's section.

    turns: (question, words of the section or None, affirmation, continuation).
    """
    stage = seed.collection.stages.get(name="dialog")
    text = section_of(seed.pk).text
    for worker in (student, teacher):
        shown = {"worker": worker, "seed": seed, "kind": stage.kind}
        Exposure.objects.get_or_create(**shown, defaults={"at": NOW})
    questions = []
    for number, (asked, words, affirmation, continuation) in enumerate(turns):
        question = Question.objects.create(
            stage=stage,
            position=number,
            seed=seed,
            worker=student,
            key=uuid5(NAMESPACE_URL, f"{seed.key}\n{ordinal}\n{number}\n{asked}").hex,
            text=asked,
            payload={"dialog": ordinal, "turn": number, "n_pairs": len(turns)},
            created_at=NOW + timedelta(minutes=number),
        )
        Answer.objects.create(
            question=question,
            stage=stage,
            worker=teacher,
            writer=student,
            type="none" if words is None else "span",
            payload={
                "spans": spans(text, words),
                "affirmation": affirmation,
                "continuation": continuation,
                "n_pairs": len(turns),
            },
            created_at=NOW + timedelta(minutes=number, seconds=30),
        )
        questions.append(question)
    return questions


def spans(text: str, words: str | None) -> list[dict[str, object]]:
    """Return the span of the words in the text, none for no answer."""
    if words is None:
        return []
    start = text.index(words)
    return [{"document": "section", "start": start, "end": start + len(words), "text": words}]


def seed_of(collection: Collection, fold: str) -> Seed:
    """Return the first seed of the main task in this fold."""
    found = collection.seeds.filter(stage__name="dialog", fold=fold).order_by("position").first()
    assert found is not None, f"There is no seed in {fold}."
    return found
