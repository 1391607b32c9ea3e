"""The operations of the requester API, one module per noun; importing this registers them all."""

from marketplace.operations import (  # noqa: F401
    account,
    assignments,
    bonuses,
    hit_lifetime,
    hit_pages,
    hit_types,
    hits,
    notifications,
    qualification_requests,
    qualification_types,
    qualifications,
    queues,
    reviews,
    topics,
    workers,
)
