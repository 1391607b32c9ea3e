"""Tests of the pages of candidate sets: proposed, looked at, kept or dropped, undone."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.dashboard.tests.making import send
from annotation.dashboard.tests.test_collections import queries
from collector.candidates.tests.making import make_pairs, make_towns
from collector.graph import files
from collector.models import Article, CandidateSet, Collection
from collector.protocols.loading import get_protocol
from common.sent_form import version_of
from common.tests.forms import hidden_in

pytestmark = pytest.mark.django_db
SETS = "/collections/pilot/seeds/sets/"


@pytest.fixture
def pilot(rita: Client, tmp_path: Path, settings: Any) -> Collection:
    """Return a collection in draft on the corpus of towns."""
    settings.HOME = tmp_path
    return make_pairs(make_towns(tmp_path))


@pytest.fixture
def towns(rita: Client, pilot: Collection) -> CandidateSet:
    """Return the set of towns among those that were proposed from categories."""
    rita.post(SETS + "add/", {"defaults": "on"})
    return pilot.candidate_sets.get(role="bridge", name="Towns")


def said(rita: Client, address: str, **given: Any) -> str:
    page = address.removesuffix("decide/")
    return send(rita, page, address, given, follow=True).content.decode()


def test_without_sets_it_says_what_to_do_and_proposes_categories(
    rita: Client, pilot: Collection
) -> None:
    page = rita.get(SETS).content.decode()
    assert "No set of pages yet" in page
    assert "Propose categories" in page
    page = said(rita, SETS + "add/", defaults="on")
    assert "Proposed: " in page
    assert "Category: Towns" in page
    assert pilot.candidate_sets.filter(state="proposed").count() == 4


def test_files_categories_and_list_pages_are_proposed(rita: Client, pilot: Collection) -> None:
    given = {
        "role": "comparison",
        "title_files": [SimpleUploadedFile("Mine.txt", b"Hollin\nQuern\nNowhere")],
        "categories": "Towns\n\nPeople",
        "list_pages": "List of towns",
    }
    page = said(rita, SETS + "add/", **given)
    assert "Proposed: Mine, Towns, People, List of towns" in page
    assert "1 title leads nowhere" in page
    again = said(rita, SETS + "add/", role="comparison", categories="Towns")
    assert "There already, and left as they are: Towns." in again


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"role": "bridge"}, "Give a file, a category or a list page"),
        ({"categories": "Towns"}, "Choose what the sets are"),
        ({"role": "bridge", "categories": "Towns\nRivers"}, "no category &#x27;Rivers&#x27;"),
        ({"role": "bridge", "categories": "Towns", "most_linked": "-1"}, "greater than or equal"),
    ],
)
def test_what_cannot_be_proposed_is_said_and_nothing_is_lost(
    rita: Client, pilot: Collection, given: dict[str, str], reason: str
) -> None:
    answer = rita.post(SETS + "add/", given)
    assert answer.status_code == 422
    assert reason in answer.content.decode()
    assert given.get("categories", "") in answer.content.decode()
    assert not pilot.candidate_sets.exists()


def test_a_set_is_kept_and_that_is_undone(
    rita: Client, pilot: Collection, towns: CandidateSet
) -> None:
    address = f"{SETS}{towns.pk}/decide/"
    assert "Pairs will be drawn from it" in said(rita, address, decision="kept")
    towns.refresh_from_db()
    assert (towns.state, towns.decided_by) == ("kept", "owner")
    page = rita.get(SETS).content.decode()
    assert "<b>3</b> bridge entities" in page
    assert "6 links lead to them" in page
    assert "waits for a decision again" in said(
        rita, address, decision="proposed", **{"from": "list"}
    )
    assert "<b>0</b> bridge entities" in rita.get(SETS).content.decode()
    assert "Choose: keep, drop" in said(rita, address, decision="maybe")
    Collection.objects.update(state="collecting")
    refused = said(rita, address, decision="kept", seen="proposed")
    assert "locked since the first publication" in refused


def test_all_undecided_sets_are_kept_at_once_unless_they_are_others_by_now(
    rita: Client, pilot: Collection, towns: CandidateSet
) -> None:
    said(rita, f"{SETS}{towns.pk}/decide/", decision="dropped")
    said(rita, SETS + "add/", role="bridge", list_pages="List of towns")
    waiting = pilot.candidate_sets.filter(role="bridge", state="proposed")
    number = waiting.count()
    assert number > 1
    page = rita.get(SETS).content.decode()
    assert f"Keep all {number} that are undecided" in page
    # A colleague has decided about one, and somebody proposed another.
    first = waiting.first()
    assert first
    said(rita, f"{SETS}{first.pk}/decide/", decision="dropped")
    pilot.candidate_sets.create(role="bridge", name="New", created_at=first.created_at)

    form = {"role": "bridge", "seen": hidden_in(page, f"{SETS}keep/")["seen"]}
    stale = rita.post(SETS + "keep/", form, follow=True).content.decode()
    assert waiting.count() == number
    assert "Kept: " not in stale
    form["seen"] = hidden_in(stale, f"{SETS}keep/")["seen"]
    kept = rita.post(SETS + "keep/", form, follow=True)

    assert f"Kept: {number} sets." in kept.content.decode()
    assert not waiting.exists()
    towns.refresh_from_db()
    assert towns.state == "dropped"
    assert set(pilot.candidate_sets.filter(state="kept").values_list("decided_by", flat=True)) == {
        "owner"
    }
    again = rita.post(SETS + "keep/", form, follow=True)
    assert "Kept: " not in again.content.decode()
    Collection.objects.update(state="collecting")
    refused = rita.post(SETS + "keep/", {"role": "bridge", "seen": version_of([])}, follow=True)
    assert "locked since the first publication" in refused.content.decode()


def test_pairs_are_drawn_with_the_link_marked_and_are_the_same_again(
    rita: Client, pilot: Collection, towns: CandidateSet
) -> None:
    address = f"{SETS}{towns.pk}/"
    page = rita.get(address).content.decode()
    assert '<mark class="mark-evidence">' in page
    assert "3 of them linked from 6 first paragraphs" in page
    drawn = re.findall(r'id="(pair-\d+-\d+)"', page)
    assert len(drawn) >= 2
    assert re.findall(r'id="(pair-\d+-\d+)"', rita.get(address).content.decode()) == drawn
    assert rita.get(address + "?draw=zzz").status_code == 200
    assert rita.get(f"{SETS}{towns.pk + 99}/").status_code == 404


def test_a_pair_is_tried_and_that_is_taken_back(
    rita: Client, pilot: Collection, towns: CandidateSet
) -> None:
    hollin, grace = (Article.objects.get(title=title).pk for title in ("Hollin", "Grace"))
    address = f"{SETS}{towns.pk}/try/"
    page = said(rita, address, first=grace, second=hollin, works="yes", draw=2)
    assert "<b>1 of 1</b> tried pair works" in page
    assert "1 of 1 work" in rita.get(SETS).content.decode()
    page = said(rita, address, first=grace, second=hollin, works="undo")
    assert "No pair tried yet" in page
    for wrong in ({"first": hollin, "second": grace}, {"first": "x"}, {"works": "maybe"}):
        given = {"first": grace, "second": hollin, "works": "no", **wrong}
        assert "not of this set" in said(rita, address, **given)
    assert not towns.trials.exists()


def test_a_number_of_thirty_digits_names_no_pair_no_set_and_no_cut(
    rita: Client, pilot: Collection, towns: CandidateSet
) -> None:
    many = "9" * 30
    for address in (f"{SETS}{many}/", f"{SETS}{towns.pk}/?draw={many}", f"{SETS}?page={many}"):
        assert rita.get(address).status_code in (200, 404)
    for act in ("decide", "try"):
        assert rita.post(f"{SETS}{many}/{act}/", {"decision": "kept"}).status_code == 404
    given = {"first": many, "second": many, "works": "yes"}
    assert "not of this set" in said(rita, f"{SETS}{towns.pk}/try/", **given)
    given = {"role": "bridge", "categories": "Towns", "most_linked": many}
    assert rita.post(f"{SETS}add/", given).status_code in (302, 422)


def test_a_list_is_drawn_in_proportion_to_its_size(
    rita: Client, pilot: Collection, towns: CandidateSet
) -> None:
    for each in pilot.candidate_sets.filter(role="comparison"):
        said(rita, f"{SETS}{each.pk}/decide/", decision="kept")
    page = rita.get(SETS + "?role=comparison&state=kept").content.decode()
    assert "67%" in page
    assert "33%" in page
    compared = pilot.candidate_sets.get(role="comparison", name="Towns")
    page = rita.get(f"{SETS}{compared.pk}/").content.decode()
    assert "a question that compares them" in page
    assert "mark-evidence" not in page


def test_a_large_corpus_without_a_graph_says_which_command(
    rita: Client, pilot: Collection, towns: CandidateSet, monkeypatch: Any
) -> None:
    monkeypatch.setattr(files, "BUILT_ON_DEMAND", 0)
    files.path_of(files.current_row(pilot.corpus)).unlink()  # type: ignore[arg-type]
    for address in (SETS, f"{SETS}{towns.pk}/"):
        assert "manage.py build_graph towns" in rita.get(address).content.decode()


def test_other_protocols_have_no_such_page(rita: Client, pilot: Collection) -> None:
    parameters = get_protocol("iirc").parameters()
    Collection.objects.update(protocol="iirc", parameters=parameters.model_dump(mode="json"))
    assert rita.get(SETS).status_code == 404
    assert "Candidate sets" not in rita.get("/collections/pilot/seeds/").content.decode()


def test_its_queries_do_not_follow_the_sets(
    rita: Client, pilot: Collection, towns: CandidateSet
) -> None:
    few = queries(lambda: rita.get(SETS))
    said(rita, SETS + "add/", role="bridge", list_pages="List of towns")
    assert queries(lambda: rita.get(SETS)) == few
