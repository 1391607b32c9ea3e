"""What tests of pairs prepare and look up on the instance's databases; runs in its own desk."""

from typing import Any

from django.core.management import call_command

from collector.models import Collection, Paragraph
from collector.seeds.candidate import Candidate
from collector.seeds.selection import store_seeds
from tasks.models import Answer, Question, Skip
from tasks.work.units import create_unit

# A bridge, a comparison for words, one for yes or no, and a pair to skip.
PAYLOADS = (
    {"type": "bridge", "form": "any", "set": "people"},
    {"type": "comparison", "form": "span", "set": "people"},
    {"type": "comparison", "form": "yes_no", "set": "people"},
    {"type": "bridge", "form": "any", "set": "people"},
)
CHOSEN = (
    "question.items_per_hit=4",
    "question.max_skips=1",
    "human_performance.items_per_hit=3",
    "checks.max_answer_words=6",
)


def open_pairs(slug: str, title: str) -> None:
    """Open a collection with a HIT of four pairs of the sample corpus."""
    call_command(
        "create_collection",
        slug,
        protocol="hotpotqa",
        corpus="quarnsey",
        title=f"The collection {slug}",
        budget=500,
        seed=7,
        requester="Rita",
        contact="rita@example.org",
        set=[*CHOSEN, f'question.title="{title}"', f'human_performance.title="{title} again"'],
    )
    collection = Collection.objects.get(slug=slug)
    first = Paragraph.objects.filter(
        article__corpus=collection.corpus, position=0, kind="paragraph"
    ).order_by("article__title")
    rows = list(first.values_list("pk", flat=True))
    wanted = [
        (Candidate(f"pair {number}", "", (rows[2 * number], rows[2 * number + 1]), payload), number)
        for number, payload in enumerate(PAYLOADS)
    ]
    store_seeds(collection, [(one, number + 1, "question", "") for one, number in wanted])
    call_command("publish", slug, stage="question")


def open_second_reading(slug: str) -> None:
    """Ask others what was asked about the pairs."""
    collection = Collection.objects.get(slug=slug)
    stage = collection.stages.get(name="human_performance")
    create_unit(stage, list(Question.objects.filter(stage__collection=collection)), 1)
    call_command("publish", slug, stage=stage.name)


def stored(slug: str) -> dict[str, list[Any]]:
    """Return what the rows hold: questions with their writers' answers, skips, others' answers."""
    of_slug = {"stage__collection__slug": slug}
    answers = Answer.objects.filter(**of_slug).select_related("question", "stage").order_by("id")
    told = [
        {
            "stage": answer.stage.name,
            "question": answer.question.text,
            "asked": answer.question.payload,
            "type": answer.type,
            "words": [span["text"] for span in answer.payload["spans"]],
            "facts": answer.payload["facts"],
            "by_the_writer": answer.worker_id == answer.question.worker_id,
        }
        for answer in answers
    ]
    skips = Skip.objects.filter(**of_slug).values_list("reason", flat=True)
    return {"answers": told, "skips": list(skips)}
