"""A search finds words whatever their case, and means every sign as it is typed."""

import pytest
from django.contrib.auth import get_user_model

from common.searching import holds


@pytest.mark.django_db
def test_a_word_is_found_in_any_case_and_script_and_signs_are_signs() -> None:
    users = get_user_model().objects
    for name in ("Österreich 50%", "ÅNGSTRÖM", "Αθήνα", "a.b (c)"):
        users.create(username=name)
    for words, found in (
        ("österreich", "Österreich 50%"),
        ("ÖSTER", "Österreich 50%"),
        ("ångström", "ÅNGSTRÖM"),
        ("ΑΘΉΝΑ", "Αθήνα"),
        ("A.B (", "a.b (c)"),
        ("50%", "Österreich 50%"),
    ):
        assert [row.username for row in users.filter(holds("username", words))] == [found]
    for nothing in ("a_b", "[a]", ".*", "a\\"):
        assert not users.filter(holds("username", nothing)).exists()
