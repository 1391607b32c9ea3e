"""What tests of questions over documents prepare and look up; runs in the instance's own desk."""

from typing import Any

from django.core.management import call_command

from collector.serving import sample
from tasks.models import Answer


def open_documents(slug: str, title: str) -> None:
    """Open a collection with one set of passages to ask about, and one to ask naturally of."""
    chosen = sample.demos(sample.read_plan())["rag"]
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
            "seeds.shares={ single = 0, shared_terms = 1, citation = 0, section = 0 }",
            f'natural.title="{title} naturally"',
            f'question.title="{title}"',
            f'find.title="{title} found"',
            f'reading.title="{title} again"',
        ],
    )
    call_command("select_seeds", slug, count=1)
    call_command("publish", slug)


def stored(slug: str) -> list[dict[str, Any]]:
    """Return every answer in order, with its question and what was searched for it."""
    answers = Answer.objects.filter(stage__collection__slug=slug).select_related("question")
    return [
        {
            "question": answer.question.text,
            "category": answer.question.payload["category"],
            "type": answer.type,
            **{name: answer.payload.get(name) for name in ("short", "full", "searches")},
            "evidence": [piece["text"] for piece in answer.payload["evidence"]],
            "opened": len(answer.payload.get("opened", ())),
        }
        for answer in answers.order_by("id")
    ]
