"""Review policies of a new HIT, and ListReviewPolicyResultsForHIT."""

from datetime import datetime
from typing import Any

from marketplace.hits.review_rules import NAMES, PolicyError, read_policy
from marketplace.models import ReviewLevel, ReviewPolicy
from marketplace.operations.ownership import settle_own
from marketplace.wire.calls import Call, operation
from marketplace.wire.errors import InvalidParameter
from marketplace.wire.pagination import page_asked, token_after


def policies_in(parameters: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the review policies of a new HIT by level; raises InvalidParameterValue."""
    try:
        return {
            level: read_policy(level, parameters[f"{level}ReviewPolicy"])
            for level in ReviewLevel.values
            if f"{level}ReviewPolicy" in parameters
        }
    except PolicyError as error:
        raise InvalidParameter(str(error)) from None


@operation("ListReviewPolicyResultsForHIT")
def list_review_policy_results(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a page of what a HIT's policies found, and with the first one all that they did.

    MaxResults counts results: who asks for actions and reads one page sees them.
    """
    hit_id = parameters["HITId"]
    settle_own(call, hit_id)
    levels = parameters.get("PolicyLevels") or ReviewLevel.values
    found = ReviewPolicy.objects.filter(
        hit__hit_id=hit_id, hit__requester=call.requester, level__in=levels
    )
    policies = {policy.level: policy for policy in found.order_by("level")}
    results: list[tuple[str, dict[str, Any]]] = []
    if parameters.get("RetrieveResults", True):
        results = [(level, one) for level, policy in policies.items() for one in policy.results]
    size, last = page_asked(parameters, int)
    start = max(0, last[1]) if last else 0
    shown = results[start : start + size]
    end = start + len(shown)
    with_actions = parameters.get("RetrieveActions", True) and last is None
    reply: dict[str, Any] = {"HITId": hit_id, "NextToken": token_after(end, end) if shown else None}
    for level, policy in policies.items():
        reply[f"{level}ReviewPolicy"] = {"PolicyName": NAMES[level]}
        reply[f"{level}ReviewReport"] = {
            "ReviewResults": [one for its, one in shown if its == level],
            "ReviewActions": [
                one | {"CompleteTime": datetime.fromisoformat(one["CompleteTime"])}
                for one in (policy.actions if with_actions else ())
            ],
        }
    return reply
