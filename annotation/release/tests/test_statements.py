"""What a requester says of a dataset: kept in rows, in later releases, and nothing made up."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from annotation.models import About, Statement
from annotation.protocols.iirc.tests.island import island
from annotation.release.facts import LONGEST_STATEMENT, do_say, not_said, statements_of
from annotation.release.publish_release import publish_release
from annotation.release.tests.reference_readers import read_release
from annotation.splits.assignment import make_splits
from annotation.tests.making import NOW
from collector.models import Collection
from common.actions import ActionError

pytestmark = pytest.mark.django_db
EVERYTHING = {
    About.AUTHORS: "Brook, Ida\nTarn & Sons",
    About.CONTACT: "ida@hollin.example",
    About.PAGE: "https://hollin.example/questions",
    **{
        about: f"Said of {about}."
        for about in About.values
        if about not in (About.AUTHORS, About.CONTACT, About.PAGE)
    },
}


@pytest.fixture
def collection() -> Collection:
    """Return a decided and placed collection."""
    made = island()
    make_splits(made, NOW)
    return made


def test_what_is_said_is_in_later_releases_alone(collection: Collection, tmp_path: Path) -> None:
    before = publish_release(collection, tmp_path / "before", NOW)
    assert before.release.counts["not_said"] == [About(about).label for about in About.values]
    card = (before.folder / "README.md").read_text()
    assert "In the words of" not in card
    do_say(collection, EVERYTHING, "rita", NOW)
    after = publish_release(collection, tmp_path / "after", NOW + timedelta(days=1))
    assert (after.release.number, after.release.counts["not_said"]) == (2, [])
    assert (before.folder / "README.md").read_text() == card
    read_release(after.folder, tmp_path / "cache")
    card = (after.folder / "README.md").read_text()
    described = json.loads((after.folder / "croissant.json").read_text())
    entry = described["citeAs"]
    assert entry in card
    assert "author = {Brook, Ida and Tarn \\& Sons}" in entry
    assert "url = {https://hollin.example/questions}" in entry
    assert [each["name"] for each in described["creator"]] == ["Brook, Ida", "Tarn & Sons"]
    told = json.dumps(described)
    for about, text in EVERYTHING.items():
        if about not in (About.AUTHORS, About.CONTACT, About.PAGE):
            assert f"### {About(about).label}\n\n{text}" in card
            assert text in told
    assert described["rai:dataUseCases"] == ["Said of uses."]
    assert described["rai:dataLimitations"][-1] == "Said of limits."
    assert described["rai:dataReleaseMaintenancePlan"].endswith(
        "Upkeep: Said of upkeep. Contact: ida@hollin.example"
    )


def test_the_last_of_each_holds_and_an_empty_one_takes_it_back(collection: Collection) -> None:
    assert do_say(collection, {"uses": "A", "limits": "B\r\nC "}, "rita", NOW) == ["uses", "limits"]
    assert do_say(collection, {"uses": "A", "limits": ""}, "ada", NOW) == ["limits"]
    assert statements_of(collection) == {"uses": "A"}
    assert "Known limits and uses to avoid" in not_said(statements_of(collection))
    assert list(Statement.objects.values_list("text", "by")) == [
        ("A", "rita"),
        ("B\nC", "rita"),
        ("", "ada"),
    ]


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ({"colour": "red"}, "Nothing called 'colour' is asked"),
        ({"uses": "x" * (LONGEST_STATEMENT + 1)}, "4,001 characters are too many"),
        ({"page": "javascript:alert(1)"}, "give an address that begins with https://"),
        ({"page": "https://a.example/}\n, note={x"}, "give an address"),
        ({"contact": "a\nb"}, "write it on one line"),
    ],
)
def test_what_cannot_be_kept_is_refused_and_changes_nothing(
    collection: Collection, wanted: dict[str, str], sentence: str
) -> None:
    with pytest.raises(ActionError, match=sentence.replace("(", r"\(")):
        do_say(collection, {"limits": "Good.", **wanted}, "rita", NOW)
    assert not Statement.objects.exists()
