"""The cast and the stage of the marketplace's tests."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from marketplace import clock, configuration
from marketplace.people.accounts import RequesterKeys, keys_of, open_requester
from marketplace.tests.boto import ENDPOINT, mturk_client
from marketplace.tests.visitor import Visitor

# A busy machine is no fault of the code: no example is timed.
hypothesis_settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("untimed")

HERE = Path(__file__).parent
# Served alone there is no default database; inside a larger project it comes along.
DATABASES = [
    alias
    for alias, values in django_settings.DATABASES.items()
    if values.get("ENGINE", "django.db.backends.dummy") != "django.db.backends.dummy"
]
QUESTION = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/'
    '2006-07-14/ExternalQuestion.xsd"><ExternalURL>https://task.example/hit?unit=7&amp;lang=en'
    "</ExternalURL><FrameHeight>0</FrameHeight></ExternalQuestion>"
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give these tests their databases, unless they say that they need none."""
    for item in items:
        marked = item.get_closest_marker("django_db") or item.get_closest_marker("pure")
        if HERE in item.path.parents and not marked:
            item.add_marker(pytest.mark.django_db(databases=DATABASES))


@pytest.fixture(autouse=True)
def _stage(settings: Any) -> Iterator[None]:
    settings.MARKETPLACE_OPEN_SIGN_IN = True
    settings.MARKETPLACE_BASE_URL = ""
    settings.MARKETPLACE_DEFAULT_BALANCE_CENTS = 1_000_000
    settings.MARKETPLACE_DELIVER_EVENTS = settings.MARKETPLACE_PRIVATE_WEBHOOKS = False
    configuration._cap.clear()
    with clock.shifted():
        yield


@pytest.fixture
def rita_keys() -> RequesterKeys:
    """The keys of Rita, who posts HITs."""
    requester = open_requester("Rita", "rita@lab.example", 1_000_000, clock.now())
    return keys_of(requester, ENDPOINT, clock.now())


@pytest.fixture
def rita(rita_keys: RequesterKeys) -> Any:
    """Rita's boto3 client."""
    return mturk_client(rita_keys)


@pytest.fixture
def other_requester() -> Any:
    """The client of a requester who has nothing to do with Rita."""
    requester = open_requester("Olive", "", 1_000_000, clock.now())
    return mturk_client(keys_of(requester, ENDPOINT, clock.now()))


@pytest.fixture
def ada() -> Visitor:
    """Ada, signed in."""
    return Visitor("Ada")


@pytest.fixture
def grace() -> Visitor:
    """Grace, signed in."""
    return Visitor("Grace")


@pytest.fixture
def mallory() -> Visitor:
    """Mallory, signed in."""
    return Visitor("Mallory")


@pytest.fixture
def make_hit() -> Callable[..., dict[str, Any]]:
    """A function that creates a HIT through the API and returns the model's HIT."""

    def make(client: Any, **changes: Any) -> dict[str, Any]:
        values = {
            "Title": "Ask questions about a passage",
            "Description": "Read ten paragraphs and ask a question about each.",
            "Reward": "4.50",
            "AssignmentDurationInSeconds": 3600,
            "LifetimeInSeconds": 86400,
            "Question": QUESTION,
        }
        return client.create_hit(**values | changes)["HIT"]

    return make


@pytest.fixture
def later() -> Callable[..., None]:
    """A function that moves the marketplace's clock forward by a timedelta's arguments."""
    return lambda **by: clock.advance(timedelta(**by))
