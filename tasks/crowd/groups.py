"""Groups of people at a marketplace: qualifications of its host's that anybody may require."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from tasks.crowd import marketplace
from tasks.crowd.requester_api import MarketplaceError, call, pages

# Among the keywords of a group, and of a type that members of any of several have.
GROUP, ANY_OF = "group", "any-of"
LONGEST_NAME = 200


@dataclass(frozen=True)
class Group:
    """A group by its name, and the id of the qualification type that its members have."""

    name: str
    type_id: str


def listed() -> list[Group]:
    """Return the groups of the marketplace by name; none where it knows no such thing."""
    rows = pages(
        "list_qualification_types", "QualificationTypes", Query=GROUP, MustBeRequestable=False
    )
    found = [
        Group(row["Name"], row["QualificationTypeId"])
        for row in rows
        # Nobody else's inactive types are listed: what is inactive and says so is the host's.
        if GROUP in row.get("Keywords", "").split(", ") and not row.get("IsRequestable", True)
    ]
    return sorted(found, key=lambda group: group.name)


def named(names: list[str]) -> list[Group]:
    """Return the groups of these names; raises MarketplaceError, permanent, if one is none."""
    known = {group.name: group for group in listed()}
    for name in names:
        if name not in known:
            raise MarketplaceError(f"There is no group “{name}” there.", permanent=True)
    return [known[name] for name in names]


def members(group: Group) -> set[str]:
    """Return the people of a group, as the marketplace calls them."""
    rows = pages(
        "list_workers_with_qualification_type",
        "Qualifications",
        QualificationTypeId=group.type_id,
        Status="Granted",
    )
    return {row["WorkerId"] for row in rows}


def blocked() -> set[str]:
    """Return the people whom the account has blocked: they see nothing of it."""
    return {row["WorkerId"] for row in pages("list_worker_blocks", "WorkerBlocks")}


def known_as(people: Iterable[str]) -> dict[str, str]:
    """Return what the marketplace calls people, by how they are named here; "" for strangers.

    An id that they had elsewhere, or on an account that was merged, names them too: the wire tells
    so of a qualification alone, and this is one that says nothing and that nobody is shown.
    """
    asked_about = marketplace.create_qualification(
        name="Asked about",
        description="A requester's own bookkeeping: it says nothing of whoever has it.",
        keywords=marketplace.UNLISTED,
    )
    return {person: _called(asked_about, person) for person in people}


def _called(type_id: str, person: str) -> str:
    try:
        marketplace.grant(type_id, person, silently=True)
    except MarketplaceError as error:
        if not error.permanent:
            raise
        return ""
    asked = {"QualificationTypeId": type_id, "WorkerId": person}
    return str(call("get_qualification_score", **asked)["Qualification"]["WorkerId"])


def required(names: list[str]) -> list[dict[str, object]]:
    """Return the requirement of being in one of the groups, as HIT types state it; [] for none.

    Others do not see the HIT. Several groups are one qualification that members of any of them
    have at once: the wire joins requirements by "and" alone.
    """
    if not names:
        return []
    found = named(names)
    type_id = found[0].type_id if len(found) == 1 else _any_of(found)
    return [
        {
            "QualificationTypeId": type_id,
            "Comparator": "Exists",
            "ActionsGuarded": "DiscoverPreviewAndAccept",
        }
    ]


def required_by(hit_id: str) -> tuple[str, ...]:
    """Return the names of the groups of which a HIT requires one; () where it is for everybody.

    Raises MarketplaceError.
    """
    for asked in marketplace.requirements_of(hit_id):
        # As `required` states it, and nothing else here does.
        if asked["Comparator"] == "Exists":
            return tuple(sorted(_names(asked["QualificationTypeId"])))
    return ()


def _names(type_id: str) -> list[str]:
    try:
        found = call("get_qualification_type", QualificationTypeId=type_id)["QualificationType"]
    except MarketplaceError as error:
        if not error.permanent:
            raise
        return ["a group that is gone"]
    words = found.get("Keywords", "").split(", ")
    ids = [word.removeprefix(f"{ANY_OF}:") for word in words if word.startswith(f"{ANY_OF}:")]
    return [name for each in ids for name in _names(each)] or [str(found["Name"])]


def _any_of(found: list[Group]) -> str:
    found = sorted(found, key=lambda group: group.name)
    name = f"Member of {' or '.join(group.name for group in found)}"
    ids = [f"{ANY_OF}:{group.type_id}" for group in found]
    return marketplace.create_qualification(
        # A name is one type's: groups of long names are told apart by their ids.
        name=name if len(name) <= LONGEST_NAME else f"Member of {len(found)} groups: {digest(ids)}",
        description="Whoever is in one of these groups has it. There is no need to ask for it.",
        keywords=", ".join([marketplace.EARNED, marketplace.UNLISTED, *ids]),
    )


def digest(ids: list[str]) -> str:
    """Return a short name of what the ids name together."""
    return sha256("/".join(ids).encode()).hexdigest()[:16]
