"""What our HITs state of themselves beyond the wire's members: among their keywords."""

from collections.abc import Iterable

from collector.models import Stage
from collector.protocols.parameters import Parameters
from tasks.kinds.registry import kind_of
from tasks.people import qualifications

# The wire takes no more.
LONGEST = 1000


def keywords(stage: Stage, parameters: Parameters) -> str:
    """Return the keywords of a stage's HITs; the requester's own give way where all do not fit.

    The marketplace tells workers by them what the HIT is part of, what it pays beside the reward,
    how long it is estimated to take, and which qualification it earns.
    """
    table = parameters.stages()[stage.name]
    promise, minor_units = kind_of(table).promise(table), parameters.pay.minor_units
    # Equal values would share a HIT type, and "next" would lead into another collection.
    stated = [stage.collection.slug, f"part-of:{_name(stage)}"]
    stated.append(f"expected-minutes:{table.expected_minutes}")
    if table.extension_minutes:
        stated.append(f"extension-minutes:{table.extension_minutes}")
    if promise.bonus_cents:
        stated.append(f"bonus-up-to:{promise.bonus_cents / 10**minor_units:.{minor_units}f}")
    if promise.waiting_cents:
        cents = promise.waiting_cents / 10**minor_units
        stated.append(f"waiting-per-minute:{cents:.{minor_units}f}")
        stated.append(f"waiting-minutes:{promise.waiting_minutes}")
    if promise.keeps_work:
        stated.append("keeps-work")
    if promise.is_one_at_a_time:
        stated.append("one-at-a-time")
    if table.qualifies:
        stated += ["once", *(f"earns:{known}" for known in _earned(stage))]
    own = [word.strip() for word in table.keywords.split(",") if word.strip()]
    while own and len(", ".join([*own, *stated])) > LONGEST:
        own.pop()
    return ", ".join([*own, *stated])


def _name(stage: Stage) -> str:
    # A comma would end it.
    return " ".join(stage.collection.title.replace(",", ";").split())[:200]


def _earned(stage: Stage) -> Iterable[str]:
    yield qualifications.external_id(stage)
    for opened in qualifications.opened_by(stage):
        yield qualifications.entry_id(opened)
