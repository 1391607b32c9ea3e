"""It runs from own documents to verdicts: some ask, others search for the answers."""

import pytest

from annotation.models import Verdict
from collector.models import Collection, Paragraph
from tasks.models import Answer, Question
from tests.page_workers import Person, look, run

pytestmark = pytest.mark.django_db


def read_all(collection: Collection) -> None:
    """Let three people search for the answers to everything that was asked."""
    for name in ("AEDITH", "AIDA", "AGRACE"):
        reader = Person(name, collection)
        for stage in ("find", "reading"):
            reader.work(stage)
    look(collection)


def test_it_runs_from_documents_to_verdicts(asked: Collection) -> None:
    read_all(asked)
    run("validate_answers", asked.slug)
    found = list(Verdict.objects.all())
    assert len(found) == Question.objects.count() >= 5
    assert {one.outcome for one in found} <= {"kept", "dropped"}
    assert sum(one.outcome == "kept" for one in found) >= 4
    for answer in Answer.objects.all():
        for piece in answer.payload["evidence"]:
            text = Paragraph.objects.get(
                article__document__external_id=piece["document"], position=piece["paragraph"]
            ).text
            assert text[piece["start"] : piece["end"]] == piece["text"]
