"""Tests see nothing of a site that is served from the same checkout."""

from django.conf import settings


def test_the_home_of_a_site_beside_them_is_not_read() -> None:
    assert settings.HOME != settings.BASE_DIR / "var"
