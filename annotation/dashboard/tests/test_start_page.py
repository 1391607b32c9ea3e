"""Tests of the start page."""

import html
import shlex
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Release
from common.command_line import MANAGE
from tasks.tests.making import make_collection, make_corpus

pytestmark = pytest.mark.django_db


def test_it_says_what_this_is_and_shows_three_doors(rita: Client, settings: Any) -> None:
    page = rita.get("/").content.decode()
    assert "Collector turns a text corpus into a published" in page
    for door in ("Work as a worker", "Run a collection", "See a finished release"):
        assert door in page
    assert f'href="{settings.MARKETPLACE_URL}/"' in page
    assert "No collection yet" in page


def test_a_printed_command_names_the_home_where_it_is_not_the_usual_one(
    rita: Client, settings: Any, tmp_path: Path
) -> None:
    settings.HOME = tmp_path / "a home"
    page = rita.get("/collections/new/").content.decode()
    command = f"COLLECTOR_HOME={shlex.quote(str(settings.HOME))} {MANAGE} ingest_dump"
    assert command in html.unescape(page)
    settings.HOME = settings.BASE_DIR / "var"
    assert f"<code>{MANAGE} ingest_dump" in rita.get("/collections/new/").content.decode()


def test_with_a_corpus_at_hand_it_is_still_said_how_to_read_another_in(rita: Client) -> None:
    make_corpus()
    page = html.unescape(rita.get("/collections/new/").content.decode())
    assert "Create the collection" in page
    assert f"{MANAGE} ingest_dump pages.xml.bz2 --corpus my-corpus" in page


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


def test_while_the_sample_is_on_its_way_the_third_door_says_so(rita: Client) -> None:
    assert "There is none yet" in rita.get("/").content.decode()
    collection = make_collection(slug="demo-iirc")
    page = rita.get("/").content.decode()
    assert "The first is on its way" in page
    assert "There is none yet" not in page
    now = timezone.now()
    Release.objects.create(collection=collection, number=1, folder="/nowhere", created_at=now)
    assert "The first is on its way" not in rita.get("/").content.decode()


def test_the_number_of_queries_does_not_follow_the_collections(
    rita: Client, django_assert_max_num_queries: Any
) -> None:
    corpus = make_corpus()
    for number in range(5):
        make_collection(corpus, slug=f"pilot-{number}")
    with django_assert_max_num_queries(19):
        rita.get("/")
    with django_assert_max_num_queries(18):
        rita.get("/collections/")
