"""What a worker takes up jobs with: it talks to the queue, and to no other worker."""

from typing import Any

from celery.worker.consumer import Consumer


class LoneConsumer(Consumer):  # type: ignore[misc]
    """Celery's own, without what keeps workers in touch.

    At its start, and after each outage of the queue, it would wait a second for others to answer;
    and nobody reads the signs of life that they would send each other every other second.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        alone = {"without_mingle": True, "without_gossip": True, "without_heartbeat": True}
        chosen = {**(options.pop("worker_options", None) or {}), **alone}
        super().__init__(*arguments, worker_options=chosen, **options)
