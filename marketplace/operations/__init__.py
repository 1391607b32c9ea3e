"""The operations of the requester API, one module per noun; importing this registers them all."""

from marketplace.operations import (  # noqa: F401
    assignments,
    destinations,
    hits,
    posted_hits,
    qualifications,
    workers,
)
