"""Labels that a requester writes instead of the paper's go the same way to a release."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotation.dashboard.tests.making import send
from annotation.protocols.bookqa.tests.making import rows
from annotation.protocols.bookqa.tests.test_label_release import rita
from annotation.protocols.bookqa.tests.test_labelling import LABELLERS, begin, share_half
from collector.models import Collection, StageState
from collector.protocols.creation import newest
from tasks.models import Answer
from tests.page_workers import Person, run

pytestmark = pytest.mark.django_db
__all__ = ["rita"]
PAGE = "/collections/stories/labels/label/"
TYPED = {
    "title": "Tones",
    "source": "Our pilot",
    "f0.label": "Which tone has the question?",
    "f0.name": "Tone",
    "f0.groups": "Shade",
    "f0.0.value": "glad",
    "f0.0.hint": "It sounds glad.",
    "f0.0.group": "bright",
    "f0.1.value": "sad",
    "f0.1.hint": "It sounds sad.",
    "f0.1.group": "dark",
    "w0.label": "Why?",
    "w0.name": "why",
}


def test_own_labels_are_chosen_decided_reported_and_released(
    collected: Collection, rita: Client, tmp_path: Path
) -> None:
    share_half(collected)
    # As when the stage waits for its labels while others are open.
    collected.stages.filter(name="label").update(state=StageState.DRAFT)
    assert rita.post(PAGE, {**TYPED, "seen": newest(collected)}).status_code == 302
    run("publish", "stories", stage="label")
    collected.refresh_from_db()
    begin(collected)
    for name, tone in zip(LABELLERS, ("glad", "sad"), strict=True):

        def choose(state: dict[str, Any], data: dict[str, Any], tone: str = tone) -> None:
            for entry in data["entries"]:
                entry["fields"] = {"tone": tone, "why": ""}

        assert Person(name, collected).work("label", choose)
    votes = Answer.objects.filter(stage__name="label")
    twice = next(vote.question for vote in votes if vote.type == "sad")

    report = rita.get("/collections/stories/report/").content.decode()
    assert "Which tone has the question?" in report
    address = f"/collections/stories/questions/{twice.key}/"
    page = rita.get(f"{address}?outcome=labels").content.decode()
    assert all(tone in page for tone in ("Glad", "Sad"))
    listed, sent = f"{address}?outcome=labels", {"by_key": "1", "labels": "C"}
    send(rita, listed, f"{address}override/?outcome=labels", sent)
    run("make_splits", "stories")
    run("export_dataset", "stories", out=tmp_path / "out")
    given = rows(tmp_path / "out" / "label_votes.csv")
    assert {(row["tone"], row["shade"]) for row in given} == {("glad", "bright"), ("sad", "dark")}
    held = rows(tmp_path / "out" / "labels.csv")
    assert [(row["tone"], row["shade"]) for row in held if row["decided_by"] == "adjudication"] == [
        ("sad", "dark")
    ]
