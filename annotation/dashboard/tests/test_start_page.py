"""Tests of the start page."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Release
from tasks.tests.making import make_collection, make_corpus

pytestmark = pytest.mark.django_db


def test_it_says_what_this_is_and_shows_three_doors(rita: Client, settings: Any) -> None:
    page = rita.get("/").content.decode()
    assert "Collector turns a text corpus into a published" in page
    for door in ("Work as a worker", "Run a collection", "See a finished release"):
        assert door in page
    assert f'href="{settings.MARKETPLACE_URL}/"' in page
    assert "No collection yet" in page


def test_it_shows_how_the_collections_stand(rita: Client) -> None:
    make_collection(slug="pilot")
    page = rita.get("/").content.decode()
    assert "Pilot" in page
    assert "Collecting" in page


def test_the_third_door_leads_to_the_newest_release(rita: Client) -> None:
    collection = make_collection(slug="pilot")
    Release.objects.create(
        collection=collection, number=1, folder="/nowhere", created_at=timezone.now()
    )
    assert "Pilot, release 1" in rita.get("/").content.decode()


def test_the_number_of_queries_does_not_follow_the_collections(
    rita: Client, django_assert_max_num_queries: Any
) -> None:
    corpus = make_corpus()
    for number in range(5):
        make_collection(corpus, slug=f"pilot-{number}")
    with django_assert_max_num_queries(17):
        rita.get("/")
    with django_assert_max_num_queries(16):
        rita.get("/collections/")
