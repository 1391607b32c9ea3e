"""People one has: groups that alone see a collection, and people who are spared the test.

The real marketplace is asked over its wire, inside this process.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from annotation.dashboard.tests.making import make_browser, send
from collector.models import Collection, CollectionState
from collector.protocols.creation import parameters_of
from marketplace import clock
from marketplace.models import HIT, HITType, QualificationType, WorkerProfile
from marketplace.people.grants import add_members, make_group, remove_member
from marketplace.tests.visitor import Visitor
from tasks.crowd import groups, requester_api
from tasks.crowd.requester_api import MarketplaceError
from tasks.lifecycle.maintenance import maintain
from tasks.management.commands.simulate import Command, lines_of
from tasks.models import Grant, GrantState
from tasks.people import trusted
from tasks.people.audience import audience_of, groups_needed
from tasks.simulation.crowd import Result, places_left
from tasks.tests.making import make_collection
from tasks.work.kinds.hit_words import title_of
from tests.page_workers import run
from tests.whole_world import whole_world

pytestmark = pytest.mark.django_db(databases=["default", "marketplace"])


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[Any]:
    settings.PASSWORDLESS_SIGN_IN = True
    with whole_world(monkeypatch, settings) as found:
        yield found


@pytest.fixture
def pilot(world: Any) -> Collection:
    """Return a draft with seeds."""
    collection = make_collection()
    collection.stages.update(state="draft")
    Collection.objects.update(state=CollectionState.DRAFT)
    collection.refresh_from_db()
    return collection


@pytest.fixture
def rita(pilot: Collection) -> Client:
    return make_browser()


def group(name: str, *members: Visitor) -> QualificationType:
    row = make_group(name, "", clock.now()).qualification_type
    add_members(row, [one.worker for one in members], clock.now())
    return row


def look(collection: Collection) -> dict[str, int]:
    collection.refresh_from_db()
    return maintain(collection, timezone.now())


def titles(visitor: Visitor) -> set[str]:
    """Return the collection's stages of which the visitor is shown HITs."""
    page = visitor.get("/hits/").content.decode()
    return {kind.title for kind in HITType.objects.all() if f">{kind.title}<" in page}


def choose(rita: Client, form: dict[str, Any]) -> Any:
    """Return the answer to the form of groups."""
    page = "/collections/pilot/people/"
    return send(rita, page, f"{page}groups/", form)


def is_away() -> None:
    raise MarketplaceError("Nothing answers at the address.", permanent=False)


def title(collection: Collection, stage: str) -> str:
    return title_of(parameters_of(collection).stages()[stage])


def test_members_of_any_chosen_group_see_the_hits_and_nobody_else(
    rita: Client, pilot: Collection
) -> None:
    ada, grace, mallory = Visitor("Ada"), Visitor("Grace"), Visitor("Mallory")
    panel, class_a = group("Lab panel", ada), group("Class A", grace)
    page = choose(rita, {"group": ["Lab panel", "Class B"]})
    assert page.status_code == 400
    assert "The marketplace has no group called Class B." in page.content.decode()
    choose(rita, {"group": ["Lab panel", "Class A"]})
    shown = rita.get("/collections/pilot/publish/").content.decode()
    test = title(pilot, "question_qualification")
    assert "Seen by 2 people of Lab panel and Class A" in shown
    assert "Simulated workers are in no group: to try all of it with them, <a href=" in shown
    run("publish", "pilot")
    assert test in titles(ada)
    assert test in titles(grace)
    assert titles(mallory) == set()
    hit = HIT.objects.filter(hit_type__title=test).first()
    assert hit
    mallory.send(f"/hits/{hit.hit_id}/accept/")
    assert not mallory.worker.assignments.exists()
    held = grace.accept({"HITId": hit.hit_id})
    remove_member(class_a, grace.worker, clock.now())
    add_members(panel, [mallory.worker], clock.now())
    assert test in titles(mallory)
    # What she holds she may finish; then she is shown nothing.
    assert rita.get(held.url.removeprefix("http://localhost:8000")).status_code == 200
    assert held.submit(receipt="none").status_code == 200
    assert titles(grace) == set()
    pilot.refresh_from_db()
    assert audience_of(pilot).n_see == 2


def test_a_later_choice_is_a_dated_revision_for_what_is_posted_later(
    rita: Client, pilot: Collection
) -> None:
    ada = Visitor("Ada")
    group("Lab panel")
    run("publish", "pilot")
    assert titles(ada)
    why = ["--why", "The panel is enough."]
    with pytest.raises(CommandError, match="no group called Nobody"):
        call_command("change_collection", "pilot", "--set", 'people.groups=["Nobody"]', *why)
    told = run("change_collection", "pilot", "--set", 'people.groups=["Lab panel"]', *why)
    assert told["hits_up"] == HIT.objects.count() > 0
    revision = pilot.revisions.get(key="people.groups")
    assert (revision.old, revision.new, revision.why) == ([], ["Lab panel"], "The panel is enough.")
    HIT.objects.all().delete()
    pilot.stages.first().postings.update(state="expired", reserved_cents=0)
    look(pilot)
    assert HIT.objects.exists()
    assert titles(ada) == set()


def test_the_page_tells_whom_the_hits_that_are_up_were_posted_for(
    rita: Client, pilot: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    group("Lab panel", Visitor("Ada"), Visitor("Grace"))
    choose(rita, {"group": ["Lab panel"]})
    run("publish", "pilot")
    n_up = HIT.objects.count()
    choose(rita, {"why": "Everybody may."})
    page = rita.get("/collections/pilot/people/").content.decode()
    assert f"{n_up} HITs that are up: members of Lab panel only." in page
    assert "HITs posted from now on: everybody on the marketplace" in page
    assert "Seen by everybody" not in page
    up = audience_of(pilot)
    test = next(one for one in up.stages if one.is_test)
    assert (test.n_see, test.for_everybody) == (2, False)
    pilot.refresh_from_db()
    for left in ("", "question_qualification"):
        options = {"name": "pilot", "replay": None, "protocol": "", "stage": left}
        with pytest.raises(CommandError, match=r"Only members of Lab panel .* in no group"):
            Command()._prepared(options)
    with monkeypatch.context() as away:
        away.setattr(groups, "listed", is_away)
        page = rita.get("/collections/pilot/people/").content.decode()
        assert "everybody</td>" not in page
        assert "Seen by everybody" not in page
    # What the page advises.
    rita.post("/collections/pilot/pause/")
    look(pilot)
    assert not pilot.stages.filter(postings__state="live").exists()
    run("publish", "pilot")
    shown = audience_of(pilot)
    assert shown.sentences()[0].startswith("Seen by everybody")
    assert sum(each.number for each in shown.up or ()) == n_up
    assert test.title in titles(Visitor("Mallory"))
    Command()._prepared({**options, "stage": ""})


def test_hits_posted_for_any_of_several_groups_name_them_all(
    rita: Client, pilot: Collection
) -> None:
    group("Lab panel", Visitor("Ada"))
    gone = group("Class A", Visitor("Grace"))
    why = {"why": "As planned."}
    choose(rita, {"group": ["Lab panel", "Class A"]})
    run("publish", "pilot")
    assert groups_needed(pilot) == ("Class A", "Lab panel")
    choose(rita, {"group": ["Lab panel"], **why})
    pilot.refresh_from_db()
    assert "members of Class A or Lab panel only." in audience_of(pilot).sentences()[0]
    by_title = {one.title: one.n_see for one in audience_of(pilot).stages}
    # Of the other test none is up.
    assert by_title[title(pilot, "question_qualification")] == 2
    assert by_title[title(pilot, "answer_qualification")] == 1
    choose(rita, {"group": ["Class A", "Lab panel"], **why})
    pilot.refresh_from_db()
    assert not audience_of(pilot).is_changed
    gone.deleted_at = clock.now()
    gone.save()
    assert groups_needed(pilot) == ("Lab panel", "a group that is gone")


def test_simulate_says_why_hits_were_left_that_members_alone_see(
    rita: Client, pilot: Collection
) -> None:
    group("Lab panel")
    choose(rita, {"group": ["Lab panel"]})
    run("publish", "pilot")
    choose(rita, {"why": "Everybody may."})
    pilot.refresh_from_db()
    printed = " ".join(lines_of(pilot, Result(n_workers=8), places_left(pilot)))
    assert "none of them could take" in printed
    assert "Only members of Lab panel see its HITs that are up" in printed


def test_a_collection_for_a_group_that_is_none_is_not_made(
    pilot: Collection, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    group("Lab panel")
    of = [
        "--protocol",
        "iirc",
        "--corpus",
        pilot.corpus.slug,
        "--contact",
        "r@lab.example",
        "--set",
    ]
    with pytest.raises(CommandError, match=r"no group called Nobody\. Its groups are Lab panel"):
        call_command("create_collection", "lost", *of, 'people.groups=["Nobody"]')
    assert not Collection.objects.filter(slug="lost").exists()
    call_command("create_collection", "found", *of, 'people.groups=["Lab panel"]')
    assert capsys.readouterr().err == ""

    monkeypatch.setattr("tasks.crowd.groups.listed", is_away)
    call_command("create_collection", "unsure", *of, 'people.groups=["Nobody"]')
    said = "Whether there is a group Nobody is asked at publishing: Nothing answers at the address."
    assert capsys.readouterr().err.strip() == said


def test_a_group_that_is_gone_keeps_every_hit_down(pilot: Collection) -> None:
    row = group("Lab panel", Visitor("Ada"))
    call_command("change_collection", "pilot", "--set", 'people.groups=["Lab panel"]', why="Ours.")
    row.deleted_at = clock.now()
    row.save()
    with pytest.raises(CommandError, match="no group called Lab panel"):
        run("publish", "pilot")
    Collection.objects.update(state=CollectionState.COLLECTING)
    pilot.stages.update(state="open")
    look(pilot)
    assert not HIT.objects.exists()
    assert "no HIT goes up until it has" in " ".join(audience_of(pilot).sentences())


def test_the_trusted_are_spared_the_test_and_it_can_be_taken_back(
    rita: Client, pilot: Collection
) -> None:
    ada, grace = Visitor("Ada"), Visitor("Grace")
    group("Lab panel", ada, grace)
    test, work = title(pilot, "question_qualification"), title(pilot, "question")
    refused = rita.post("/collections/pilot/people/let-in/", {"who": "NOBODY"})
    assert "The marketplace knows nobody called NOBODY." in refused.content.decode()
    WorkerProfile.objects.update_or_create(worker=ada.worker, defaults={"mturk_id": "AOLD"})
    assert trusted.people_named(["AOLD", ada.worker.worker_id]) == ["AOLD"]
    rita.post("/collections/pilot/people/let-in/", {"who": ada.worker.worker_id})
    grant = Grant.objects.get(qualification__stage__name="question_qualification")
    assert (grant.state, grant.decided_by, grant.submitted_at) == ("granted", "owner", None)
    assert grant.decided_at is not None
    run("publish", "pilot")
    look(pilot)
    assert work in titles(ada)
    assert test not in titles(ada)
    assert test in titles(grace)
    found = {one.title: one for one in audience_of(pilot).stages}[work]
    assert (found.let_in, found.passed) == (1, 0)
    page = rita.get("/collections/pilot/people/").content.decode()
    at = page.partition('name="at" value="')[2].partition('"')[0]
    told = rita.post(
        "/collections/pilot/people/take-back/",
        {"by": "owner", "at": at, "stage": "question_qualification"},
        follow=True,
    )
    assert "Taken back from 1." in told.content.decode()
    look(pilot)
    assert test in titles(ada)
    hit = HIT.objects.filter(hit_type__title=work).first()
    assert hit
    ada.send(f"/hits/{hit.hit_id}/accept/")
    assert not ada.worker.assignments.exists()
    assert run("let_in", "pilot", group=["Lab panel"]) == {"named": 2, "changed": 2}
    again = run("let_in", "pilot", ada.worker.worker_id, take_back=True)
    assert again["changed"] == Grant.objects.filter(state=GrantState.DECLINED).count() > 0


def test_what_cannot_be_meant_is_refused_in_one_line(rita: Client, pilot: Collection) -> None:
    group("Empty room")
    let_in, people = "/collections/pilot/people/let-in/", [f"A{n}" for n in range(501)]
    for command, told in {
        ("let_in", "pilot"): "Name somebody, or give --group.",
        ("let_in", "pilot", "--group", "Empty room"): "Nobody is in that group yet.",
        ("let_in", "pilot", "A1", "--stage", "question"): "'question' is no qualification",
        ("let_in", "pilot", *people): "Name 500 people at most",
        ("change_collection", "pilot", "--set", 'people.groups=["A","A"]'): "each group once",
    }.items():
        with pytest.raises(CommandError, match=told) as refused:
            call_command(*command)
        assert "\n" not in str(refused.value)
    assert "Name somebody, or choose a group." in rita.post(let_in).content.decode()
    for at in ("soon", "2026-13-40T00:00:00Z", "2026-03-02T09:00:00"):
        lost = rita.post("/collections/pilot/people/take-back/", {"at": at}, follow=True)
        assert "Choose whom to take it back from" in lost.content.decode()
    Collection.objects.update(parameters={**pilot.parameters, "people": {"groups": ["Lab panel"]}})
    Collection.objects.update(state=CollectionState.COLLECTING)
    unexplained = choose(rita, {"group": ["Empty room"]})
    assert "Say why" in unexplained.content.decode()
    with pytest.raises(CommandError, match="Only members of Lab panel see its HITs"):
        Command()._prepared({"name": "pilot", "replay": None, "protocol": "", "stage": ""})


def test_the_pages_open_while_the_marketplace_is_away(
    rita: Client, pilot: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    group("Lab panel", Visitor("Ada"))
    choose(rita, {"group": ["Lab panel"]})

    def silent(*_: object, **__: object) -> Any:
        raise MarketplaceError("Connection refused.", permanent=False, is_away=True)

    monkeypatch.setattr(requester_api, "call", silent)
    for path in ("people/", "publish/"):
        page = rita.get(f"/collections/pilot/{path}").content.decode()
        assert "Seen by the members of Lab panel" in page
        assert "nobody can be counted now" in page
    assert rita.get("/collections/new/").status_code == 200
