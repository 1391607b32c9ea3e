"""What tests of passages prepare and look up on the instance's databases; runs in its own desk."""

from typing import Any

from django.core.management import call_command

from collector.serving import sample
from tasks.models import Answer


def open_passages(slug: str, title: str) -> None:
    """Open a collection with one passage of the sample: a question of each kind, answered again."""
    chosen = sample.demos(sample.read_plan())["squad"]
    call_command(
        "create_collection",
        slug,
        protocol=chosen["protocol"],
        corpus=chosen["corpus"]["slug"],
        title=f"The collection {slug}",
        budget=100,
        seed=7,
        requester="Rita",
        contact="rita@example.org",
        set=[
            "pay.approve_after_hours=0",
            "seeds.min_characters=400",
            "question.questions_per_item=2",
            "question.unanswerable_per_item=1",
            "answer.redundancy={ train = 1, dev = 1, test = 1 }",
            "answer.items_per_hit=2",
            "checks.max_answer_words=6",
            f'question.title="{title}"',
            f'answer.title="{title} again"',
        ],
    )
    call_command("select_seeds", slug, count=1)
    call_command("publish", slug)


def stored(slug: str) -> list[dict[str, Any]]:
    """Return every answer in order, with its question and who gave it."""
    answers = Answer.objects.filter(stage__collection__slug=slug).select_related("question")
    return [
        {
            "question": answer.question.text,
            "type": answer.type,
            "words": [span["text"] for span in answer.payload["spans"]],
            "plausible": [span["text"] for span in answer.payload.get("plausible", ())],
            "reason": answer.payload["reason"],
            "by_the_writer": answer.worker_id == answer.question.worker_id,
        }
        for answer in answers.order_by("id")
    ]
