"""Documents in a script that reads right to left are asked about, searched and cited exactly."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.protocols.rag.tests.conftest import publish_small
from annotation.protocols.rag.tests.test_whole_way import read_all, text_at
from collector.models import Corpus
from tasks.models import Answer
from tests.page_workers import Person, look

pytestmark = pytest.mark.django_db
NAMES = ("الكرمل", "السلط", "العقبة", "النجف", "الرملة", "الخليل", "البصرة", "المفرق", "الزرقاء")
TOLD = (
    "يقع ميناء {name} القديم في شمال الجزيرة، وقد بُني سنة {n} على يد الصيّادين من قرية {other} "
    "المجاورة، وكان فيه {m} مركبًا."
)


def test_they_are_found_and_their_evidence_is_exact(
    tmp_path: Path, settings: Any, monkeypatch: Any
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    for at, name in enumerate(NAMES):
        values = {"name": name, "other": NAMES[at - 1], "n": 1900 + at, "m": 11 + at}
        (folder / f"{at}.md").write_text(f"# 𝒜 {name}\n\n{TOLD.format(**values)}\n", "utf-8")
    options = {"corpus": "own", "language": "ar", "processes": 1}
    call_command("ingest_documents", str(folder), **options, stdout=StringIO())
    assert Corpus.objects.get().direction == "rtl"
    collection = publish_small("own", 2, tmp_path, settings, monkeypatch)
    ada = Person("AADA", collection)
    [passage, *_] = ada.enter("question")[0]["items"][0]["paragraphs"]
    assert (passage["lang"], passage["dir"]) == ("ar", "rtl")
    assert ada.work("natural") == ada.work("question") == 1
    look(collection)
    item = Person("AIDA", collection).enter("reading")[0]["items"][0]
    assert (item["lang"], item["dir"]) == ("ar", "rtl")
    read_all(collection)
    found = Answer.objects.filter(stage__name__in=["find", "reading"], type="answer")
    assert found.exists()
    for answer in Answer.objects.all():
        for piece in [*answer.payload["evidence"], *answer.payload.get("plausible", ())]:
            assert text_at(piece) == piece["text"]
