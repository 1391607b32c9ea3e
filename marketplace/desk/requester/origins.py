"""What a requester's HITs are part of, by what their programs state, with a link to its page."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from marketplace.models import HIT, HITType, QualificationType, Requester
from marketplace.people.qualifications.requirements import any_of

LINK = re.compile(r"https?://[^\s<>\"']{1,240}")


@dataclass(frozen=True)
class Origin:
    """The name of what HITs are part of, and the address of its page, "" where none was given."""

    name: str
    url: str


def page_in(annotation: str) -> str:
    """Return the address that a HIT's annotation holds, "" for none."""
    found = LINK.search(annotation)
    return found[0] if found and urlsplit(found[0]).hostname else ""


def origin_of(hit: HIT) -> Origin | None:
    """Return what a HIT is part of; None where its requester states nothing."""
    name, url = hit.hit_type.stated.part_of, page_in(hit.annotation)
    return Origin(name or url, url) if name or url else None


def kinds_by_origin(requester: Requester) -> dict[str, list[int]]:
    """Return the keys of the requester's HIT types by the name of what they are part of."""
    found: dict[str, list[int]] = {}
    rows = HITType.objects.filter(requester=requester, keywords__contains="part-of:")
    for kind in rows.only("keywords"):
        found.setdefault(kind.stated.part_of, []).append(kind.pk)
    return dict(sorted(found.items()))


def users_of(
    types: Iterable[QualificationType], requester: Requester | None = None
) -> dict[int, list[Origin]]:
    """Return what asks for each qualification type, or earns it, by the type's key.

    requester: whose HITs are looked at; None for everybody's.
    """
    kinds = HITType.objects.all() if requester is None else requester.hit_types.all()
    named: dict[str, dict[str, int]] = {}
    for kind in kinds.only("requirements", "keywords", "title").order_by("pk"):
        ids = {need["QualificationTypeId"] for need in kind.requirements} | set(kind.stated.earns)
        for type_id in ids | {other for one in ids for other in any_of(one)}:
            named.setdefault(type_id, {})[kind.stated.part_of or kind.title] = kind.pk
    return {
        row.pk: [
            Origin(name, _page_of(kind))
            for name, kind in sorted(named.get(row.qualification_type_id, {}).items())
        ]
        for row in types
    }


def _page_of(kind: int) -> str:
    hits = HIT.objects.filter(hit_type=kind).order_by("-pk").values_list("annotation", flat=True)
    return page_in(hits.first() or "")
