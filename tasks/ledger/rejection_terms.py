"""Whether work can be rejected, for what, by whom and until when: said alike to all who ask.

Workers read it in the consent text and beside the HIT, requesters before they publish.
"""

from math import ceil

from collector.protocols.parameters import Parameters

# The marketplace's own, which its contests keep to.
CONTESTED_WITHIN_DAYS = 30
ANSWERED_WITHIN_DAYS = 7


def hours_to_reject(parameters: Parameters) -> float:
    """Return how long after it was handed in work of every stage can be rejected, at most."""
    by_marketplace = (24 * table.auto_approval_days for table in parameters.stages().values())
    return min(parameters.pay.approve_after_hours, *by_marketplace)


def minutes_to_reject(parameters: Parameters) -> int:
    """Return the same in whole minutes, as the marketplace tells it: 0 for never alone."""
    return ceil(60 * hours_to_reject(parameters))


def told_workers(parameters: Parameters) -> str:
    """Return what a worker is promised, in whole sentences."""
    hours = hours_to_reject(parameters)
    if not hours:
        return "Work that you submit is paid: nothing is rejected."
    return (
        f"Work that you submit is paid by itself {_words(hours)} after the marketplace has "
        "confirmed it, unless somebody who has read it proposes before then to reject it. The "
        "only ground is that it does not do what the HIT asks, such as random, copied or empty "
        "work. A second person has to agree, or the same one a day later. You are then told the "
        f"reason in a message, and can contest it on the HIT's page for {CONTESTED_WITHIN_DAYS} "
        f"days; if nobody answers you within {ANSWERED_WITHIN_DAYS} days, the work is paid."
    )


def told_requester(parameters: Parameters) -> str:
    """Return what a requester can still do about work that was handed in, in whole sentences."""
    hours = hours_to_reject(parameters)
    if not hours:
        return (
            "Nothing can be rejected: work is paid as soon as the marketplace confirms it, and "
            "workers read so. To read it first, set the hours before work is paid "
            "(pay.approve_after_hours)."
        )
    return (
        f"Work that does not do what the HIT asks can be rejected within {_words(hours)} of the "
        "marketplace confirming it; then it is paid by itself. A proposed rejection needs a second "
        "person, or a day. Workers read so, and can contest it."
    )


def _words(hours: float) -> str:
    return f"{hours:g} {'hour' if hours == 1 else 'hours'}"
