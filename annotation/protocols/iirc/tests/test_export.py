"""Official files come out as they went in, and what is collected here has true offsets."""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from annotation.metrics.tests.golden import vectors
from annotation.protocols.iirc.export import export, import_, streams
from annotation.protocols.iirc.official_files import (
    MAIN,
    TAG,
    Answer,
    Article,
    Dataset,
    LayoutError,
    Link,
    Passage,
    Question,
    Span,
    passage_id,
    question_id,
)
from annotation.protocols.iirc.tests import official

TEXT = "Ada met Grace <in> London. 🙂 They wrote."


def question(answer: Answer, evidence: Iterable[Span] = ()) -> Question:
    """Return a question collected here."""
    return Question("q_1", "Who met Grace?", ("London",), tuple(evidence), answer)


def passage(*questions: Question) -> Passage:
    """Return a passage collected here with `questions`."""
    return Passage("p_1", "Ada Lovelace", TEXT, (Link("London", 19, 25),), questions)


def as_collected(dataset: Dataset) -> Dataset:
    """Return the dataset without what it keeps of the files it was read from."""
    return Dataset(
        {
            fold: [
                replace(
                    each,
                    imported=None,
                    questions=tuple(replace(asked, imported=None) for asked in each.questions),
                )
                for each in passages
            ]
            for fold, passages in dataset.folds.items()
        },
        dataset.articles,
    )


def data(files: dict[str, bytes]) -> dict[str, Any]:
    """Return the files as JSON values."""
    return {name: json.loads(content) for name, content in files.items()}


@settings(max_examples=150)
@given(official.files, official.files, official.articles)
def test_generated_official_files_come_out_equal_to_the_order_of_keys(
    train: list[Any], dev: list[Any], articles: dict[str, str]
) -> None:
    files = {"train.json": train, "dev.json": dev, "context_articles.json": articles}
    written = export(import_({name: json.dumps(file).encode() for name, file in files.items()}))
    assert {name: json.dumps(file) for name, file in data(written).items()} == {
        name: json.dumps(file) for name, file in files.items()
    }


def test_the_real_passage_comes_out_equal_kept_or_rebuilt() -> None:
    content = official.real_file()
    dataset = import_({"iirc_dev_first_passage.json": content})
    assert data(export(dataset)) == {"dev.json": json.loads(content)}
    (real,) = dataset.folds["dev"]
    # Its answer offsets are those of an annotation page; they are kept, and never called true.
    assert real.questions[0].answer.spans[0].start == 141
    assert data(export(as_collected(dataset))) == {"dev.json": json.loads(content)}


def test_the_golden_files_come_out_equal() -> None:
    files = vectors("iirc_drop.json")["iirc_files"]
    assert len(files) == 10
    for file in files:
        content = json.dumps(file["iirc"]).encode()
        assert data(export(import_({"test.json": content}))) == {"test.json": file["iirc"]}


@pytest.mark.parametrize(
    "answer",
    [
        Answer("span", (Span(MAIN, "Ada", 0, 3), Span("London", "the < Thames", 5, 17))),
        Answer("span", (Span("question", "Grace", 8, 13),)),
        Answer("value", value="1,000", unit="km"),
        Answer("binary", value="yes"),
        Answer("none"),
    ],
)
def test_what_is_written_here_is_read_back(answer: Answer) -> None:
    evidence = [Span(MAIN, "<in> London. 🙂", 14, 28), Span("London", "a > b", 0, 5)]
    written = export(Dataset({"test": [passage(question(answer, evidence))]}))
    read = import_(written)
    ((back,),) = read.folds.values()
    assert (back.pid, back.title, back.text, back.links) == (
        "p_1",
        "Ada Lovelace",
        TEXT,
        (Link("London", 19, 25),),
    )
    assert back.questions[0].evidence == tuple(evidence)
    assert (back.questions[0].qid, back.questions[0].text) == ("q_1", "Who met Grace?")
    assert back.questions[0].answer.type == answer.type
    assert export(read) == written


def test_article_spans_read_as_the_released_article_does() -> None:
    text = "Where x < y, a link <here> 🙂."
    article = Article("Less <Than>", text, (Link("A & B", 15, 19),))
    start = text.index("< y")
    spans = (Span("Less <Than>", "< y", start, start + 3),)
    written = data(
        export(Dataset({"dev": [passage(question(Answer("span", spans), spans))]}, [article]))
    )
    (markup,) = written["context_articles.json"].values()
    assert '<a href="A%20%26%20B">link</a>' in markup
    stripped = TAG.sub("", markup)
    asked = written["dev.json"][0]["questions"][0]
    (evidence,), (answer,) = asked["context"], asked["answer"]["answer_spans"]
    assert evidence["passage"] == "Less <Than>"
    assert answer["passage"] == "less <than>" in written["context_articles.json"]
    assert stripped[evidence["indices"][0] : evidence["indices"][1]] == evidence["text"]
    assert stripped[answer["start"] : answer["end"]] == answer["text"] == "＜ y"


def test_titles_that_differ_in_case_keep_two_articles() -> None:
    articles = [Article("IT", "Computers.", ()), Article("It", "A novel.", ())]
    written = data(export(Dataset({}, articles)))["context_articles.json"]
    assert written == {"it": "Computers.", "It": "A novel."}


def test_spans_of_titles_that_differ_in_case_name_the_article_they_stand_in() -> None:
    articles = [Article("IT", "Computers.", ()), Article("It", "A novel.", ())]
    articles += [Article("Main", "A river.", ()), Article("Ada", "A person.", ())]
    spans = [Span("It", "novel", 2, 7), Span("IT", "Computers", 0, 9), Span("Main", "river", 2, 7)]
    asked = question(Answer("span", (*spans, Span(MAIN, "met", 4, 7), Span("Ada", "A", 0, 1))))
    written = data(export(Dataset({"dev": [passage(asked)]}, articles)))
    texts = written["context_articles.json"] | {"main": TEXT}
    answer = written["dev.json"][0]["questions"][0]["answer"]["answer_spans"]
    assert [span["passage"] for span in answer] == ["it", "IT", "Main", "main", "ada"]
    for span in answer:
        assert texts[span["passage"]][span["start"] : span["end"]] == span["text"]


def test_it_refuses_one_article_twice() -> None:
    with pytest.raises(ValueError, match="two articles 'it'"):
        export(Dataset({}, [Article("It", "", ()), Article("it", "", ())]))


def test_it_refuses_false_offsets_and_bad_questions() -> None:
    false = question(Answer("none"), [Span(MAIN, "Grace", 0, 5)])
    with pytest.raises(ValueError, match="q_1: 0:5 of the main text is not 'Grace'"):
        export(Dataset({"dev": [passage(false)]}))
    with pytest.raises(ValueError, match="answer type 'bad': drop it"):
        export(Dataset({"dev": [passage(question(Answer("bad")))]}))


def test_rows_are_asked_for_one_by_one() -> None:
    asked: list[int] = []

    def rows() -> Iterable[Passage]:
        for index in range(3):
            asked.append(index)
            yield passage()

    ((name, chunks),) = streams(Dataset({"train": rows()}))
    assert name == "train.json"
    for _ in range(2):
        next(chunks)
    assert asked == [0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("dev.json", b"[", r"dev\.json: it is not valid JSON \(line 1"),
        ("dev.json", b"\xff[]", r"dev\.json: it is not UTF-8"),
        ("dev.json", b"{}", r"dev\.json: the whole file must be a list"),
        ("dev.json", b'[{"text": 5}]', r"passage 0, text must be a string"),
        ("dev.json", b'[{"questions": [7]}]', r"passage 0, question 0 must be an object"),
        ("dev.json", b'[{"links": [{"indices": [1]}]}]', r"indices must be a start and an end"),
        ("dev.json", b'[{"links": [{"indices": [1, true]}]}]', r"indices must be a whole number"),
        ("context_articles.json", b'{"a": 1}', r"'a' must be a string"),
        ("questions.json", b"[]", r"which fold is it\?"),
    ],
)
def test_a_wrong_file_is_named_with_the_place(name: str, content: bytes, message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        import_({name: content})


def test_it_refuses_two_files_for_one_fold() -> None:
    with pytest.raises(LayoutError, match="a file for test already"):
        import_({"test.json": b"[]", "iirc_test.json": b"[]"})


def test_ids_come_from_content_alone() -> None:
    pid = passage_id("Ada", "Text.")
    assert pid == passage_id("Ada", "Text.") == "p_" + pid[2:]
    assert len({pid, passage_id("Ada", "Text"), passage_id("Ad", "aText."), "p_1"}) == 4
    qid = question_id(pid, "Who?")
    assert qid.startswith("q_")
    assert qid != question_id(pid, "Who?", nth=1)
