"""A preview shows worked samples, drawn from a protocol's own file; a wrong file names itself."""

from pathlib import Path

import pytest

from collector.protocols.loading import Protocol, ProtocolError
from common.actions import ActionError
from tasks.lifecycle import publication
from tasks.tests.making import make_collection
from tasks.work import samples
from tasks.work.samples import Piece, sample_of

WELL = """
[question]
[[question.texts]]
title = "Nessa Crake"
text = "She kept the [Fleam Light] from 1912."
[[question.texts]]
title = "Two sentences"
sentences = ["One.", "Two."]
[[question.attempts]]
good = true
why = "So."
steps = [
  { label = "Ask", words = "When was the light lit?" },
  { label = "Mark", mark = "evidence", words = "the Fleam" },
  { label = "Pick", mark = "link", words = "Fleam Light" },
  { label = "Prove", mark = "fact", words = "2" },
]
[[question.attempts]]
good = false
why = "Why?"
steps = [{ label = "Ask", words = "Why?" }]
"""


@pytest.fixture
def protocol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(samples, "get_protocol", lambda name: Protocol(name, tmp_path))
    return tmp_path


def test_marks_and_links_are_drawn_where_they_stand(protocol: Path) -> None:
    (protocol / "samples.toml").write_text(WELL, "utf-8")
    good, bad = sample_of("any", "question")["attempts"]
    (line,), sentences = (text["lines"] for text in good["texts"])
    assert line.pieces == [
        Piece("She kept ", "", 0),
        Piece("the ", "evidence", 2),
        Piece("Fleam", "evidence link picked", 3),
        Piece(" Light", "link picked", 3),
        Piece(" from 1912.", "", 0),
    ]
    assert [(one.number, one.picked_in) for one in sentences] == [(1, 0), (2, 4)]
    assert [piece.look for piece in bad["texts"][0]["lines"][0].pieces] == ["", "link", ""]


def test_a_kind_without_a_sample_has_none(protocol: Path) -> None:
    assert sample_of("any", "question") is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('the Fleam"', 'the Flame"', "“the Flame” stands in no text"),
        ('words = "2"', 'words = "3"', "“3” stands in no text"),
        ("good = false", "good = true", "a good and a bad attempt"),
        ("why = ", "because = ", "because"),
        ("[question]", "[question", "not valid TOML"),
    ],
)
def test_a_wrong_sample_is_refused_by_name(protocol: Path, old: str, new: str, said: str) -> None:
    (protocol / "samples.toml").write_text(WELL.replace(old, new, 1), "utf-8")
    with pytest.raises(ProtocolError, match=said) as refusal:
        sample_of("any", "question")
    assert "samples.toml" in str(refusal.value)


@pytest.mark.django_db
def test_a_collection_with_a_wrong_sample_is_not_published(
    protocol: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (protocol / "samples.toml").write_text(WELL.replace("good = false", "good = true"), "utf-8")
    asked: list[str] = []
    monkeypatch.setattr(publication, "call", asked.append)
    with pytest.raises(ActionError, match=r"samples\.toml: question"):
        publication.publish(make_collection())
    assert asked == []
