"""What a worker takes up jobs with: it talks to the queue, and to no other worker."""

from contextlib import suppress
from typing import Any

from celery.worker.consumer import Consumer
from django.conf import settings
from kombu.exceptions import OperationalError

AT_ONCE = ("annotation.jobs.look_after_what_is_due", "annotation.jobs.remove_left_files")


class LoneConsumer(Consumer):  # type: ignore[misc]
    """Celery's own, without what keeps workers in touch.

    At its start, and after each outage of the queue, it would wait a second for others to answer;
    and nobody reads the signs of life that they would send each other every other second.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        alone = {"without_mingle": True, "without_gossip": True, "without_heartbeat": True}
        chosen = {**(options.pop("worker_options", None) or {}), **alone}
        super().__init__(*arguments, worker_options=chosen, **options)

    def on_ready(self) -> None:
        """Have what is due looked at as soon as the queue is there; the clock comes later.

        And what the dead have left.
        """
        super().on_ready()
        if self.app.conf.task_default_queue in self.app.amqp.queues.consume_from:
            # Where that fails the clock goes on asking.
            with suppress(OperationalError):
                for job in AT_ONCE:
                    self.app.send_task(job, expires=settings.MESSAGE_SECONDS)
