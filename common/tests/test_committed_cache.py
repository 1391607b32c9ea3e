"""What is read of rows is kept when the rows are, and no sooner."""

import pytest
from django.contrib.contenttypes.models import ContentType
from django.db import transaction

from common.committed_cache import kept_once_committed


def reader(size=2):
    """Return a cache of content types' names, and the list of what was read for it."""
    read = []

    @kept_once_committed(size)
    def name_of(key):
        read.append(key)
        return ContentType.objects.get(pk=key).model

    return name_of, read


@pytest.fixture
def three(transactional_db):
    return [ContentType.objects.create(app_label="lab", model=name).pk for name in "abc"]


def test_a_row_is_read_once(three):
    name_of, read = reader()
    assert [name_of(three[0]), name_of(three[0])] == ["a", "a"]
    assert read == [three[0]]
    name_of.clear()
    assert name_of(three[0]) == "a"
    assert len(read) == 2


def test_those_asked_for_last_are_kept(three):
    name_of, read = reader(size=2)
    first, second, third = three
    for key in (first, second, first, third, first, second):
        name_of(key)
    assert read == [first, second, third, second]


def test_what_is_rolled_back_is_not_kept(three):
    name_of, _ = reader()
    with transaction.atomic():
        key = ContentType.objects.create(app_label="lab", model="gone").pk
        assert name_of(key) == "gone"
        transaction.set_rollback(True)
    ContentType.objects.create(pk=key, app_label="lab", model="came after")
    assert name_of(key) == "came after"


def test_what_is_committed_is_kept(three):
    name_of, read = reader()
    with transaction.atomic():
        name_of(three[0])
    name_of(three[0])
    assert read == [three[0]]


def test_what_is_not_there_is_asked_for_again(three):
    name_of, read = reader()
    for _ in range(2):
        with pytest.raises(ContentType.DoesNotExist):
            name_of(0)
    assert read == [0, 0]
