"""Programs that make topics and queues for their events find them here, through boto3's clients."""

import json
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from botocore.exceptions import ClientError
from django.test import Client

from marketplace import clock
from marketplace.models import Event
from marketplace.notifications.events import deliver_due
from marketplace.people.accounts import RequesterKeys
from marketplace.tests.boto import HOST, client_of
from marketplace.tests.refusals import refused
from marketplace.tests.test_events import EVENTS, Listener
from marketplace.tests.visitor import Visitor

LISTENER = "https://experiment.example/mturk-sns-listener"


@pytest.fixture
def sns(rita_keys: RequesterKeys) -> Any:
    """Rita's client of topics."""
    return client_of("sns", rita_keys)


@pytest.fixture
def sqs(rita_keys: RequesterKeys) -> Any:
    """Rita's client of queues."""
    return client_of("sqs", rita_keys)


def told_to(destination: str, transport: str) -> dict[str, Any]:
    return {
        "Destination": destination,
        "Transport": transport,
        "Version": "2014-08-15",
        "EventTypes": EVENTS,
    }


def messages(listener: Listener) -> list[dict[str, Any]]:
    """Deliver what is due; return what the listener was sent since it was last asked."""
    deliver_due(clock.now(), listener)
    found = [json.loads(body) for _, _, body in listener.taken]
    for message, (_, headers, _) in zip(found, listener.taken, strict=True):
        assert headers["x-amz-sns-message-type"] == message["Type"]
    listener.taken.clear()
    return found


def test_a_topic_is_heard_by_who_has_confirmed_it(
    rita: Any, sns: Any, ada: Visitor, make_hit: Any
) -> None:
    """As Dallinger recruits: topic, subscription, token shown by the listener, events, deletion."""
    topic = sns.create_topic(Name="an-experiment")["TopicArn"]
    assert sns.create_topic(Name="an-experiment")["TopicArn"] == topic
    made = sns.subscribe(
        TopicArn=topic, Protocol="https", Endpoint=LISTENER, ReturnSubscriptionArn=True
    )
    which = {"SubscriptionArn": made["SubscriptionArn"]}
    asked = sns.get_subscription_attributes(**which)["Attributes"]
    assert asked["PendingConfirmation"] == "true"
    hit = make_hit(rita)
    rita.update_notification_settings(
        HITTypeId=hit["HITTypeId"], Notification=told_to(topic, "SNS"), Active=True
    )
    ada.accept(hit)
    listener = Listener()
    [confirmation] = messages(listener)
    assert confirmation["Type"] == "SubscriptionConfirmation"
    assert confirmation["TopicArn"] == topic
    with pytest.raises(ClientError, match="InvalidParameter"):
        sns.confirm_subscription(TopicArn=topic, Token="guessed")
    sns.confirm_subscription(TopicArn=topic, Token=confirmation["Token"])
    asked = sns.get_subscription_attributes(**which)["Attributes"]
    assert asked["PendingConfirmation"] == "false"
    ada.submit(make_hit(rita))
    told = messages(listener)
    assert {(one["Type"], one["TopicArn"]) for one in told} == {("Notification", topic)}
    events = [json.loads(one["Message"])["Events"][0]["EventType"] for one in told]
    assert events == ["HITCreated", "AssignmentAccepted", "AssignmentSubmitted", "HITReviewable"]
    assert [one["TopicArn"] for one in sns.list_topics()["Topics"]] == [topic]
    sns.delete_topic(TopicArn=topic)
    make_hit(rita)
    assert messages(listener) == []
    assert sns.list_topics()["Topics"] == []


def test_a_listener_may_confirm_by_the_link_it_was_sent(sns: Any) -> None:
    """As ParlAI's server does; the link is signed by nobody."""
    topic = sns.create_topic(Name="talks")["TopicArn"]
    sns.set_topic_attributes(TopicArn=topic, AttributeName="Policy", AttributeValue="{}")
    pending = sns.subscribe(TopicArn=topic, Protocol="https", Endpoint=LISTENER)
    assert pending["SubscriptionArn"] == "pending confirmation"
    [message] = messages(Listener())
    link = urlsplit(message["SubscribeURL"])
    site = Client(headers={"Host": HOST})
    for wrong in (link.query[:-3], f"{link.query}%00", "Action=ConfirmSubscription"):
        assert site.get(f"/?{wrong}").status_code == 400
    assert b"<SubscriptionArn>" in site.get(f"/?{link.query}").content
    [row] = sns.list_subscriptions_by_topic(TopicArn=topic)["Subscriptions"]
    assert row["Endpoint"] == LISTENER
    counted = sns.get_topic_attributes(TopicArn=topic)["Attributes"]
    assert counted["SubscriptionsConfirmed"] == "1"
    sns.unsubscribe(SubscriptionArn=row["SubscriptionArn"])
    assert sns.list_subscriptions_by_topic(TopicArn=topic)["Subscriptions"] == []


def test_nobody_reaches_a_topic_or_a_queue_of_somebody_else_s(
    rita: Any, sns: Any, sqs: Any, other_requester: Any, make_hit: Any
) -> None:
    topic = sns.create_topic(Name="an-experiment")["TopicArn"]
    queue = sqs.create_queue(QueueName="events")["QueueUrl"]
    kind = make_hit(other_requester)["HITTypeId"]
    for destination, transport in ((topic, "SNS"), (queue, "SQS")):
        with refused("InvalidTransportEndpoint"):
            other_requester.update_notification_settings(
                HITTypeId=kind, Notification=told_to(destination, transport)
            )
    with pytest.raises(ClientError, match="NotFound"):
        sns.get_topic_attributes(TopicArn=topic.replace("an-experiment", "another"))
    with pytest.raises(ClientError, match=r"InvalidParameter.*not a public address"):
        sns.subscribe(TopicArn=topic, Protocol="https", Endpoint="https://10.0.0.5/")
    with pytest.raises(ClientError, match=r"InvalidParameter.*https or http"):
        sns.subscribe(TopicArn=topic, Protocol="email", Endpoint="rita@lab.example")
    with pytest.raises(ClientError, match="README"):
        sns.publish(TopicArn=topic, Message="Hello")


def test_a_queue_keeps_events_until_a_program_has_fetched_and_deleted_them(
    rita: Any, sqs: Any, make_hit: Any, later: Any
) -> None:
    queue = sqs.create_queue(QueueName="events", Attributes={"VisibilityTimeout": "60"})["QueueUrl"]
    assert sqs.get_queue_url(QueueName="events")["QueueUrl"] == queue
    assert sqs.list_queues(QueueNamePrefix="ev")["QueueUrls"] == [queue]
    rita.send_test_event_notification(Notification=told_to(queue, "SQS"), TestEventType="Ping")
    rita.send_test_event_notification(
        Notification=told_to(queue, "SQS"), TestEventType="HITCreated"
    )
    assert deliver_due(clock.now(), Listener()).n_delivered == 0
    first, second = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)["Messages"]
    assert json.loads(first["Body"])["Events"][0]["EventType"] == "Ping"
    assert "Messages" not in sqs.receive_message(QueueUrl=queue)
    asked = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["All"])["Attributes"]
    assert asked["ApproximateNumberOfMessagesNotVisible"] == "2"
    sqs.delete_message(QueueUrl=queue, ReceiptHandle=first["ReceiptHandle"])
    later(seconds=61)
    [again] = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)["Messages"]
    assert again["MessageId"] == second["MessageId"]
    sqs.change_message_visibility(
        QueueUrl=queue, ReceiptHandle=again["ReceiptHandle"], VisibilityTimeout=0
    )
    [again] = sqs.receive_message(QueueUrl=queue)["Messages"]
    handles = [{"Id": "1", "ReceiptHandle": again["ReceiptHandle"]}]
    assert sqs.delete_message_batch(QueueUrl=queue, Entries=handles)["Successful"] == [{"Id": "1"}]
    later(hours=1)
    assert "Messages" not in sqs.receive_message(QueueUrl=queue)
    assert not Event.objects.filter(delivered_at=None).exists()
    sqs.set_queue_attributes(QueueUrl=queue, Attributes={"VisibilityTimeout": "5", "Policy": "{}"})
    sqs.delete_queue(QueueUrl=queue)
    with pytest.raises(ClientError, match="NonExistentQueue"):
        sqs.receive_message(QueueUrl=queue)
    with pytest.raises(sqs.exceptions.QueueDoesNotExist):
        sqs.get_queue_url(QueueName="events")


def test_a_queue_s_event_is_gone_after_four_days(rita: Any, sqs: Any, later: Any) -> None:
    queue = sqs.create_queue(QueueName="events")["QueueUrl"]
    rita.send_test_event_notification(Notification=told_to(queue, "SQS"), TestEventType="Ping")
    clock.advance(timedelta(days=4, minutes=1))
    assert "Messages" not in sqs.receive_message(QueueUrl=queue)


def test_a_queue_that_is_gone_gets_nothing_and_no_listener_is_sought_at_its_address(
    rita: Any, sqs: Any, make_hit: Any
) -> None:
    queue = sqs.create_queue(QueueName="events")["QueueUrl"]
    with refused("InvalidTransportEndpoint"):
        rita.send_test_event_notification(Notification=told_to(queue, "SNS"), TestEventType="Ping")
    hit = make_hit(rita)
    rita.update_notification_settings(
        HITTypeId=hit["HITTypeId"], Notification=told_to(queue, "SQS"), Active=True
    )
    sqs.delete_queue(QueueUrl=queue)
    make_hit(rita)
    assert not Event.objects.exists()


def test_who_was_unsubscribed_is_sent_nothing_that_waits(rita: Any, sns: Any, later: Any) -> None:
    topic = sns.create_topic(Name="talks")["TopicArn"]
    rows = []
    for address in (LISTENER, f"{LISTENER}/2"):
        sns.subscribe(TopicArn=topic, Protocol="https", Endpoint=address)
        rows = sns.list_subscriptions_by_topic(TopicArn=topic)["Subscriptions"]
    for message in messages(Listener()):
        sns.confirm_subscription(TopicArn=topic, Token=message["Token"])
    rows = sns.list_subscriptions_by_topic(TopicArn=topic)["Subscriptions"]
    rita.send_test_event_notification(Notification=told_to(topic, "SNS"), TestEventType="Ping")
    sns.unsubscribe(SubscriptionArn=rows[0]["SubscriptionArn"])
    assert len(messages(Listener())) == 1
    rita.send_test_event_notification(Notification=told_to(topic, "SNS"), TestEventType="Ping")
    sns.delete_topic(TopicArn=topic)
    assert messages(Listener()) == []
    assert not Event.objects.filter(next_attempt_at__isnull=False).exists()


def test_a_queue_gets_what_happened_long_ago_and_was_noticed_now(
    rita: Any, sqs: Any, ada: Visitor, make_hit: Any, later: Any
) -> None:
    """Clients end a HIT by a moment of the past, psiTurk 30 days ago and Dallinger in 1970."""
    queue = sqs.create_queue(QueueName="events")["QueueUrl"]
    ended, forgotten = make_hit(rita), make_hit(rita, MaxAssignments=2)
    rita.update_notification_settings(
        HITTypeId=ended["HITTypeId"],
        Notification=told_to(queue, "SQS")
        | {"EventTypes": ["HITExpired", "HITReviewable", "AssignmentAbandoned"]},
    )

    def received() -> list[tuple[str, timedelta]]:
        """Return what happened, with how long ago."""
        got = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)["Messages"]
        told = [json.loads(message["Body"])["Events"][0] for message in got]
        return [
            (event["EventType"], clock.now() - datetime.fromisoformat(event["EventTimestamp"]))
            for event in told
        ]

    rita.update_expiration_for_hit(HITId=ended["HITId"], ExpireAt=0)
    told = received()
    assert [event for event, _ in told] == ["HITExpired", "HITReviewable"]
    assert all(ago < timedelta(minutes=1) for _, ago in told)
    ada.accept(forgotten)
    later(days=6)
    rita.get_hit(HITId=forgotten["HITId"])
    told = received()
    assert [event for event, _ in told] == ["AssignmentAbandoned", "HITExpired", "HITReviewable"]
    assert timedelta(days=5) < told[0][1] < timedelta(days=6)


def test_a_hit_ended_by_a_moment_after_its_creation_is_told_as_ended_now(
    rita: Any, sqs: Any, make_hit: Any, later: Any
) -> None:
    """It was there to be accepted until the call came, whatever moment of the past that names."""
    queue = sqs.create_queue(QueueName="events")["QueueUrl"]
    hit = make_hit(rita, LifetimeInSeconds=90 * 86_400)
    rita.update_notification_settings(
        HITTypeId=hit["HITTypeId"],
        Notification=told_to(queue, "SQS") | {"EventTypes": ["HITExpired"]},
    )
    later(days=60)
    ended = clock.now() - timedelta(days=30)
    rita.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=ended)
    [message] = sqs.receive_message(QueueUrl=queue)["Messages"]
    [event] = json.loads(message["Body"])["Events"]
    ago = clock.now() - datetime.fromisoformat(event["EventTimestamp"])
    assert ago < timedelta(minutes=1)
