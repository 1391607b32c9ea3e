"""What a worker sent with a HIT, as the worker's own page of it shows it again."""

from dataclasses import dataclass

from marketplace.batches.results import readable
from marketplace.models import Assignment
from marketplace.site.hits.previews import origin_of


@dataclass(frozen=True)
class Sent:
    """The fields of the form by name; `address`, where the task itself shows them, or ""."""

    fields: dict[str, str]
    address: str


def sent_with(assignment: Assignment) -> Sent:
    """Return what was handed in; an answer that is an address of the task's own site is a link."""
    fields = readable(assignment.answer) if assignment.answer else {}
    origin = origin_of(assignment.hit.external_url)
    addresses = [value for value in fields.values() if value.startswith(f"{origin}/")]
    return Sent(fields, addresses[0] if addresses else "")
