"""Jobs within one process wait for each other, not for the time."""

import threading

import pytest
from kombu import Consumer, Exchange, Producer, Queue

from collector.celery import app
from collector.serving import job_queue

pytestmark = pytest.mark.pure


def test_what_is_sent_is_delivered_without_having_been_looked_for() -> None:
    exchange = Exchange("quiet", type="direct")
    queue = Queue("quiet", exchange, routing_key="quiet")
    got, looks = [], []
    with app.connection_for_read("memory://localhost/") as connection:
        assert isinstance(connection.transport, job_queue.Transport)
        look = connection.transport.cycle.get
        connection.transport.cycle.get = lambda *a, **k: (looks.append(1), look(*a, **k))
        producer = Producer(connection.channel(), exchange, "quiet")
        consumer = Consumer(connection.channel(), [queue], prefetch_count=1)
        consumer.register_callback(lambda body, message: got.append(message))
        with consumer:
            for number in range(2):
                later = threading.Timer(0.3, producer.publish, [{"number": number}])
                later.start()
                # The second has no room before the first is taken up.
                if got:
                    threading.Timer(0.6, got[0].ack).start()
                connection.drain_events(timeout=20)
                later.join()
            with pytest.raises(TimeoutError):
                connection.drain_events(timeout=0.01)
    assert [message.payload["number"] for message in got] == [0, 1]
    assert len(looks) <= 2 + 3 + 1
