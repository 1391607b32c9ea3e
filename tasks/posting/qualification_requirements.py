"""What a collection asks of its workers' past, and whether this crowd has one to ask about."""

from typing import Any

from django.conf import settings

from collector.protocols.parameters import Parameters, WorkersTable

# As the wire documents them.
LOCALE = "00000000000000000071"
N_APPROVED = "00000000000000000040"
PERCENT_APPROVED = "000000000000000000L0"


def requirements(parameters: Parameters) -> list[dict[str, object]]:
    """Return the system requirements for every HIT; none where the crowd has no such past."""
    workers = _workers(parameters)
    if workers is None or not settings.CROWD_HISTORY:
        return []
    asked: list[dict[str, object]] = []
    if workers.countries:
        places = [{"Country": country} for country in workers.countries]
        comparator = "EqualTo" if len(places) == 1 else "In"
        asked.append(_guarded(LOCALE, comparator, LocaleValues=places))
    if workers.min_approved:
        asked.append(_guarded(N_APPROVED, "GreaterThan", IntegerValues=[workers.min_approved]))
    if workers.min_approval_percent:
        least = [workers.min_approval_percent]
        asked.append(_guarded(PERCENT_APPROVED, "GreaterThanOrEqualTo", IntegerValues=least))
    return asked


def notice(parameters: Parameters) -> str:
    """Return what a requester must know at launch: that nothing is asked of the workers' past.

    Empty where it is asked, or where the protocol asks for nothing.
    """
    workers = _workers(parameters)
    if workers is None or settings.CROWD_HISTORY:
        return ""
    asked = []
    if workers.countries:
        asked.append(f"workers from {', '.join(workers.countries)}")
    if workers.min_approved:
        asked.append(f"more than {workers.min_approved:,} approved HITs")
    if workers.min_approval_percent:
        asked.append(f"at least {workers.min_approval_percent}% approved")
    if not asked:
        return ""
    return (
        f"The protocol asks for {'; '.join(asked)}. This marketplace has no such history, so "
        "nothing of it is asked: the collection's own qualifications stand in. Where it has, set "
        "CROWD_HISTORY=true."
    )


def _workers(parameters: Parameters) -> WorkersTable | None:
    return getattr(parameters, "workers", None)


def _guarded(type_id: str, comparator: str, **values: Any) -> dict[str, Any]:
    return {
        "QualificationTypeId": type_id,
        "Comparator": comparator,
        "ActionsGuarded": "Accept",
        **values,
    }
