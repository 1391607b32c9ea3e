"""CreateHIT for a HIT type that exists already, in one SQL statement on PostgreSQL."""

from typing import Any

from common.prepared_sql import PreparedQuery, instance_of
from marketplace import clock
from marketplace.models import HIT, HITType
from marketplace.models.hits import fingerprint_of
from marketplace.money.chained_changes import IF_SO, chained, insertion
from marketplace.money.funds import MOVE
from marketplace.operations.descriptions import type_members
from marketplace.wire.registry import Call
from marketplace.wire.replay_protection import SEEN, forget_old, replayed

TYPE = f"SELECT id FROM {HITType._meta.db_table} WHERE requester_id = %s AND fingerprint = %s"
# An event has to be written with the change that it tells, so types that tell go the longer way.
MOVE_IF_SILENT = MOVE.replace(IF_SO, f"AND EXISTS ({TYPE} AND NOT is_notifying) {IF_SO}")

TYPE_FIELDS = ("id", "hit_type_id", "requester_id", "title", "requirements")
KNOWN_TYPE = PreparedQuery(
    lambda requester, fingerprint: HITType.objects.filter(
        requester=requester, fingerprint=fingerprint
    ).values_list("pk", "hit_type_id"),
    requester=int,
    fingerprint=str,
)


def post(call: Call, hit: HIT, values: dict[str, Any]) -> bool:
    """Keep a new HIT of the type with these values and hold its money; tells whether that was done.

    It is not when there is no such type yet, when events are told of it or money is short: then
    nothing has changed but that the call's attempt is remembered. Raises WireError for an attempt
    that was made before.
    """
    known = (call.requester.pk, fingerprint_of(values))
    hit.held_cents = cents = hit.max_assignments * values["Reward"]
    changes = [
        (MOVE_IF_SILENT, [cents, cents, call.requester.pk, cents, *known]),
        insertion(hit, "hit_type_id", f"({TYPE})", *known),
    ]
    if call.attempt:
        now = clock.wall()
        changes.insert(0, (SEEN, [call.attempt, now]))
        forget_old(call.attempt, now)
    n_made, row = chained(changes, KNOWN_TYPE, requester=known[0], fingerprint=known[1])
    if call.attempt and n_made == 0:
        raise replayed()
    if n_made < len(changes) or row is None:
        return False
    members = type_members(row[1])
    kind = (*row, known[0], members["Title"], members["QualificationRequirements"])
    hit.hit_type = instance_of(HITType, TYPE_FIELDS, kind)
    return True
