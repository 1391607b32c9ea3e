"""What the public files hold comes back letter by letter."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.protocols.iirc import simulated
from annotation.protocols.iirc.official_files import LayoutError
from annotation.protocols.iirc.replay import Replay, laid_out
from annotation.protocols.iirc.tests.pages import seeded
from tasks.simulation.behaviour import DILIGENT


def page_of(paragraphs: list[tuple[str, str, Any]], title: str) -> dict[str, Any]:
    found, start = [], 0
    for _, text, _ in paragraphs:
        found.append({"start": start, "text": text, "sentences": [[0, len(text)]]})
        start += len(text) + 1
    return {"title": title, "sections": [{"heading": "", "level": 0, "paragraphs": found}]}


def typed(replay: Replay) -> tuple[list[dict[str, Any]], list[dict[str, Any]], bool]:
    """Return the questions and the answers that the replay types into pages of its own corpus."""
    corpus = dict(replay.pages())
    items = []
    for number, passage in enumerate(replay.passages):
        _, text, links = corpus[passage.title][0]
        shown = [{"start": start, "end": end, "title": to} for start, end, to in links]
        sentences = [[0, len(text)]]
        items.append(
            {"id": str(number), "title": passage.title, "section": "", "text": text}
            | {"links": shown, "sentences": sentences}
        )
    count = sum(len(passage.questions) for passage in replay.passages)
    limits = {"questions": count, "multi_link_questions": 0, "multi_link_min_links": 2}
    page = {"kind": "question", "limits": limits, "items": items}
    data, first_real = replay.fill(page, DILIGENT, seeded(1), lambda item, title: None)
    asked = [
        {
            "id": str(number),
            "question": question["text"],
            "passage": items[int(question["item"])],
            "writer_context": [{"document": "main", **span} for span in question["context"]],
            "writer_links": question["links"],
        }
        for number, question in enumerate(data["questions"])
    ]
    answers, second_real = replay.fill(
        {"kind": "answer", "limits": {}, "items": asked},
        DILIGENT,
        seeded(2),
        lambda item, title: page_of(corpus[title], title) if title in corpus else None,
    )
    return asked, answers["answers"], first_real and second_real


def test_the_official_passage_is_replayed_exactly(data: Path) -> None:
    path = data / "official" / "iirc" / "iirc_dev_first_passage.json"
    replay = simulated.replay(path)
    asked, answers, is_real = typed(replay)
    assert is_real
    official = json.loads(path.read_text())[0]
    for question, answer, true in zip(asked, answers, official["questions"], strict=True):
        assert question["question"] == true["question"]
        assert question["writer_links"] == true["question_links"]
        main = [span["indices"] for span in true["context"] if span["passage"] == "main"]
        assert [[one["start"], one["end"]] for one in question["writer_context"]] == main
        spans = [(one["document"].lower(), one["start"], one["end"]) for one in answer["spans"]]
        expected = true["answer"]["answer_spans"]
        assert spans == [(one["passage"], one["start"], one["end"]) for one in expected]
        evidence = [(one["document"], [one["start"], one["end"]]) for one in answer["context"]]
        assert evidence == [(one["passage"], one["indices"]) for one in true["context"]]


def test_questions_with_their_paragraphs_are_replayed(data: Path) -> None:
    path = data / "replay" / "iirc_from_ircot.json"
    replay = simulated.replay(path)
    asked, answers, is_real = typed(replay)
    assert not is_real
    true = {one["question"]: one for one in json.loads(path.read_text())}
    assert len(asked) == len(true) == 14
    corpus = dict(replay.pages())
    for question, answer in zip(asked, answers, strict=True):
        given = true[question["question"]]
        assert question["passage"]["text"] == given["main_paragraph"]
        if answer["type"] == "value":
            assert answer["value"] == given["answer"]
            continue
        (span,) = answer["spans"]
        texts = {"main": question["passage"]["text"], "question": question["question"]}
        article = "\n".join(text for _, text, _ in corpus.get(span["document"], []))
        text = texts.get(span["document"], article)
        assert text[span["start"] : span["end"]] == given["answer"]


def test_a_collection_asks_for_what_the_file_holds(data: Path) -> None:
    path = data / "official" / "iirc" / "iirc_dev_first_passage.json"
    overrides = simulated.replay(path).overrides()
    assert overrides["question.items_per_hit"] == 1
    assert overrides["question.questions_per_hit"] == 2


@pytest.mark.parametrize("content", ["[]", "{}", "[1]", "no", '[{"main_paragraph": "Text"}]'])
def test_another_file_is_refused_by_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(content)
    with pytest.raises(LayoutError, match=r"wrong\.json"):
        simulated.replay(path)


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(LayoutError, match="nowhere"):
        simulated.replay(tmp_path / "nowhere.json")


def test_pieces_stand_where_they_are_said_to_stand() -> None:
    text = "\n".join(laid_out([(0, "Arden is"), (12, "a forest"), (2, "den is")]))
    assert text == "Arden is ·· a forest"


def test_pieces_that_clash_come_after_the_others() -> None:
    assert laid_out([(0, "Arden is a forest"), (3, "Hollin"), (-5, "far")]) == [
        "Arden is a forest",
        "Hollin",
        "far",
    ]
