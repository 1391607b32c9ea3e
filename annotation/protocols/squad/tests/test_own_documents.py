"""Own documents need no links, and no left-to-right."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.dashboard.tests.making import make_browser
from annotation.protocols.squad.parameters import Parameters
from annotation.protocols.squad.seeds import counter as squad_counter
from annotation.protocols.squad.tests.conftest import publish_small
from annotation.protocols.squad.tests.test_whole_way import questions_of, release
from collector.models import Collection, Corpus
from collector.protocols.loading import get_protocol
from collector.seeds.selection import fitting_length
from tests.page_workers import Person, look

pytestmark = pytest.mark.django_db
TEXT = "يقع الميناء القديم في شمال الجزيرة، وقد بُني سنة {n} على يد الصيّادين من القرية المجاورة."
# Texts of their own: what is nearly the same is in one split.
TEXTS = (
    TEXT.format(n=1900),
    "كانت المنارة تضيء للسفن كلّ ليلة، حتى انطفأت في شتاء عام 1901 بعد عاصفة شديدة جدًّا.",
    "يزرع أهل الوادي الزيتون واللوز، ويبيعون محصولهم في سوق المدينة منذ صيف 1902 كلّ عام.",
    "افتُتحت المدرسة الأولى سنة 1903 في بيت صغير، وتعلّم فيها عشرون ولدًا القراءة والحساب.",
)


def test_they_are_asked_about_and_released_with_true_offsets(
    tmp_path: Path, settings: Any, monkeypatch: Any
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    for number, told in enumerate(TEXTS):
        text = f"# {number}\n\n## 𝒜 {number}\n\n{told}\n\n|a|b|\n|-|-|\n|1|2|\n"
        (folder / f"{number}.md").write_text(text, "utf-8")
    options = {"corpus": "own", "language": "ar", "processes": 1}
    call_command("ingest_documents", str(folder), **options, stdout=StringIO())
    assert Corpus.objects.get().direction == "rtl"
    collection = publish_small("own", 3, tmp_path, settings, monkeypatch)
    ada = Person("AADA", collection)
    [paragraph] = ada.enter("question")[0]["items"][0]["paragraphs"]
    assert (paragraph["lang"], paragraph["dir"]) == ("ar", "rtl")
    assert paragraph["section"].startswith("𝒜")
    assert ada.work("question") == 3
    look(collection)
    for name in ("AEDITH", "AIDA"):
        assert Person(name, collection).work("answer") == 2
    files = release(collection, tmp_path / "out")
    card = (tmp_path / "out/README.md").read_text("utf-8")
    assert "were read, 5 % of the text (characters: tables 16) was left out." in card
    found = [pair for file in files.values() for pair in questions_of(file)]
    assert len(found) > 3
    for question, context in found:
        for mark in question["answers"] or question["plausible_answers"]:
            start = mark["answer_start"]
            assert context[start : start + len(mark["text"])] == mark["text"]


def test_short_paragraphs_are_asked_about_and_the_requester_is_told(
    tmp_path: Path, settings: Any
) -> None:
    settings.PASSWORDLESS_SIGN_IN = True
    folder = tmp_path / "own"
    folder.mkdir()
    for number in range(8):
        told = " ".join(TEXT.format(n=1900 + number + turn) for turn in range(1 + number % 2))
        (folder / f"{number}.md").write_text(f"# {number}\n\n{told}\n", "utf-8")
    options = {"corpus": "own", "language": "ar", "processes": 1}
    call_command("ingest_documents", str(folder), **options, stdout=StringIO())
    browser = make_browser()
    form = {"title": "Own", "protocol": "squad", "corpus": "own", "budget": "90"}
    form |= {"requester_name": "Rita", "requester_contact": "rita@example.org"}
    page = browser.post("/collections/new/", form, follow=True).content.decode()
    assert "with 500 characters or more, as the protocol has it, there would be 0 seeds" in page
    assert "Here 100 are enough, which gives 4." in page
    assert Collection.objects.get(slug="own").parameters["seeds"]["min_characters"] == 100
    told = StringIO()
    said = {"protocol": "squad", "corpus": "own", "budget": 90.0, "stdout": StringIO()}
    call_command("create_collection", "told", **said, stderr=told)
    assert "Here 100 are enough" in told.getvalue()
    # Whoever says a length is asked for no other.
    told = StringIO()
    kept = ["seeds.min_characters=400"]
    call_command("create_collection", "kept", **said, set=kept, stderr=told)
    assert "are enough" not in told.getvalue()
    assert Collection.objects.get(slug="kept").parameters["seeds"]["min_characters"] == 400


def test_of_documents_whose_paragraphs_are_long_enough_two_lengths_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own").mkdir()
    told = " ".join(TEXT.format(n=1900 + turn) for turn in range(9))
    (tmp_path / "own/one.md").write_text(f"# One\n\n{told}\n", "utf-8")
    options = {"corpus": "own", "language": "ar", "processes": 1}
    call_command("ingest_documents", str(tmp_path / "own"), **options, stdout=StringIO())
    lengths = []

    def counter(corpus: Corpus) -> Any:
        count = squad_counter(corpus)

        def counted(parameters: Parameters) -> int:
            lengths.append(parameters.seeds.min_characters)
            return count(parameters)

        return counted

    monkeypatch.setattr("annotation.protocols.squad.seeds.counter", counter)
    assert fitting_length(get_protocol("squad"), Corpus.objects.get()) is None
    assert lengths == [500, 1]
