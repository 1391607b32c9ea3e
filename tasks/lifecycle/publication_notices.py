"""What a requester has to know before workers begin, in sentences that need no page around them."""

from collector.protocols.parameters import Parameters
from tasks.money.expected_pay import Shortfall, shortfalls
from tasks.pages.wording import price
from tasks.posting.qualification_requirements import notice


def notices(parameters: Parameters) -> list[str]:
    """Return what is asked of nobody, what pays too little, and until when work can be rejected."""
    told = notice(parameters)
    return [
        *([told] if told else []),
        *(_too_little(each, parameters) for each in shortfalls(parameters)),
        rejection_notice(parameters),
    ]


def hours_to_reject(parameters: Parameters) -> float:
    """Return how long after it was handed in work of every stage can be rejected, at most."""
    by_marketplace = (24 * table.auto_approval_days for table in parameters.stages().values())
    return min(parameters.pay.approve_after_hours, *by_marketplace)


def rejection_notice(parameters: Parameters) -> str:
    """Return whether work can be rejected, and until when."""
    hours = hours_to_reject(parameters)
    if not hours:
        return (
            "Nothing can be rejected: work is paid as soon as the marketplace confirms it. To read "
            "it first, set the hours before work is paid (pay.approve_after_hours)."
        )
    unit = "hour" if hours == 1 else "hours"
    return (
        f"Work can be rejected within {hours:g} {unit} of the marketplace confirming it; then it "
        "is paid by itself. A proposed rejection needs a second person, or a day."
    )


def _too_little(each: Shortfall, parameters: Parameters) -> str:
    floor = price(parameters.pay.floor_cents_per_hour, parameters)
    return (
        f"“{each.title}” pays {price(each.cents_per_hour, parameters)} an hour by its "
        f"{each.minutes} expected minutes, below your floor of {floor}. Pay "
        f"{price(each.missing_cents, parameters)} more a HIT ({each.stage}.reward_cents), or "
        "correct the minutes."
    )
