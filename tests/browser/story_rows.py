"""What tests of stories prepare and look up on the instance's databases; runs in its own desk."""

from typing import Any

from django.core.management import call_command

from collector.serving import sample
from tasks.models import Answer, Question


def open_stories(slug: str, title: str, *changes: str, seeds: int = 2) -> None:
    """Open a collection about stories of the sample; each is asked about once."""
    chosen = sample.demos(sample.read_plan())["bookqa"]
    sample.read_corpus(chosen["corpus"], processes=1)
    once = "redundancy={ train = 1, dev = 1, test = 1 }"
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
            f"question.{once}",
            "answer.items_per_hit=1",
            f'question.title="{title}"',
            f'answer.title="{title} again"',
            *changes,
        ],
    )
    call_command("select_seeds", slug, count=seeds)
    call_command("publish", slug)


def stored(slug: str) -> list[dict[str, Any]]:
    """Return each question with both its answers, and whether two people gave them."""
    questions = Question.objects.filter(stage__collection__slug=slug).order_by("id")
    return [
        {
            "question": question.text,
            "first": question.payload["fields"]["answer"],
            "others": [vote.payload["fields"] for vote in votes],
            "by_others": all(vote.worker_id != question.worker_id for vote in votes),
        }
        for question in questions
        for votes in [Answer.objects.filter(question=question)]
    ]
