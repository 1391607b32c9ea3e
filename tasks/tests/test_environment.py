"""Tests of the name that the marketplace's people and HITs are stored under."""

from typing import Any

from tasks.crowd import marketplace


def test_the_embedded_marketplace_has_the_same_name_on_every_port(settings: Any) -> None:
    for port in (8000, 8001):
        settings.MTURK_ENDPOINT_URL = f"http://127.0.0.1:{port}"
        assert marketplace.environment() == "embedded"
    settings.EMBEDDED = False
    assert marketplace.environment() == "http://127.0.0.1:8001"
