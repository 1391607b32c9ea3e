"""What tests of dialogs prepare on the instance's databases; runs in the instance's own desk."""

from typing import Any

from django.core.management import call_command

from annotation.protocols.quac.tests.talking import Turn, make_dialog, seed_of
from collector.ingest.segmentation import split
from collector.models import Collection, Seed
from tasks.models import Answer, Question
from tasks.tests.making import make_worker
from tasks.work.passages import section_of

LAX = (
    "seeds.category_keywords=[]",
    "seeds.min_incoming_links=1",
    "splits={train = 2, dev = 1, test = 0}",
    'validation.requires=""',
)


def open_talks(slug: str) -> list[str]:
    """Open a collection with one finished dialog to validate; return its questions."""
    call_command(
        "create_collection",
        slug,
        protocol="quac",
        corpus="quarnsey",
        title="Talks",
        budget=500,
        seed=7,
        requester="Rita",
        contact="rita@example.org",
        set=list(LAX),
    )
    call_command("select_seeds", slug, count=4)
    call_command("publish", slug)
    seed = seed_of(Collection.objects.get(slug=slug), "dev")
    student, teacher = make_worker("TSTUDENT"), make_worker("TTEACHER")
    return [question.text for question in make_dialog(seed, student, teacher, turns(seed))]


def turns(seed: Seed) -> list[Turn]:
    """Return a dialog about the section's first sentences, at most six words each."""
    section = section_of(seed.pk)
    told: list[Turn] = []
    for number, (start, end) in enumerate(split(section.text, "en")[:3], 1):
        words = " ".join(section.text[start:end].split()[:14])
        told.append(
            (f"What is told of {section.title} number {number}?", words, "neither", "maybe")
        )
    told.append((f"Did {section.title} like tea?", None, "neither", "dont"))
    return told


def votes_of(slug: str) -> list[dict[str, Any]]:
    """Return what the validators answered, in the order of the questions."""
    rows = Answer.objects.filter(stage__collection__slug=slug, stage__name="validation")
    return [
        {"question": row.question.text, "type": row.type, **row.payload}
        for row in rows.order_by("question__position")
    ]


def teachers_words(slug: str) -> list[str]:
    """Return the words of the teacher's spans."""
    rows = Question.objects.filter(stage__collection__slug=slug, stage__name="dialog")
    answers = Answer.objects.filter(question__in=rows, stage__name="dialog").order_by("id")
    return [span["text"] for answer in answers for span in answer.payload["spans"]]
