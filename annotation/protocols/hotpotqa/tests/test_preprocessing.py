"""Contexts, tokens and gold spans are those of the official code; what is too long is cut."""

import pytest

from annotation.metrics.tests.golden import vectors
from readers.hotpotqa.preprocessing import (
    NO,
    SPAN,
    TITLE,
    YES,
    answer_span,
    gold_paragraphs,
    instance,
    instances,
    shortened,
    supporting_facts,
    tokenizer,
    whole_context,
)

pytestmark = pytest.mark.pure
ITEM = {
    "_id": "q1",
    "question": "Who kept the light of Cape Tarn?",
    "answer": "Ida Brook",
    "supporting_facts": [["Cape Tarn", 1], ["Ida Brook", 0]],
    "context": [
        ["Fleam", ["Fleam is a town.", " Nobody keeps it."]],
        ["Cape Tarn", ["It has a light.", " Its keeper was born in Fleam."]],
        ["Ida Brook", ["Ida Brook was born in Fleam."]],
    ],
}


def read(item=ITEM, paragraphs=whole_context):
    return instance(item, paragraphs(item), tokenizer())


def titled(found):
    return [(each.title, each.number) for each in found.sentences]


def test_contexts_and_spans_are_those_of_the_official_code():
    golden = vectors("readers_hotpotqa.json")
    made = list(instances(golden["articles"], tokenizer()))
    for one, wanted in zip(made, golden["preprocessed"], strict=True):
        told = golden["eval_file"][wanted["id"]]
        assert list(one.tokens) == wanted["context_tokens"]
        assert list(one.question) == wanted["ques_tokens"]
        facts = [[each.first, each.end, each.is_fact] for each in one.sentences]
        assert facts == wanted["start_end_facts"]
        assert one.text == told["context"]
        assert [one.answer] == told["answer"]
        assert [list(each) for each in zip(one.starts, one.ends, strict=True)] == told["spans"]
        assert [list(each) for each in titled(one)] == told["sent2title_ids"]
        [first], [last] = wanted["y1s"], wanted["y2s"]
        assert one.kind == {-1: YES, -2: NO}.get(first, SPAN)
        if one.kind == SPAN and one.answer in one.text:
            assert one.span == (first, last)
    # The official code learns the first two tokens where the answer is not there.
    absent = {one.id for one in made if one.kind == SPAN and one.span is None}
    told = [one for one in golden["preprocessed"] if one["id"] in absent]
    assert [(one["y1s"], one["y2s"]) for one in told] == [([0], [1])]


def test_oracles_are_shown_the_gold_paragraphs_or_the_facts_with_their_own_numbers():
    assert titled(read(paragraphs=gold_paragraphs)) == [
        ("Cape Tarn", TITLE),
        ("Cape Tarn", 0),
        ("Cape Tarn", 1),
        ("Ida Brook", TITLE),
        ("Ida Brook", 0),
    ]
    found = read(paragraphs=supporting_facts)
    assert titled(found) == [
        ("Cape Tarn", TITLE),
        ("Cape Tarn", 1),
        ("Ida Brook", TITLE),
        ("Ida Brook", 0),
    ]
    assert all(each.is_fact for each in found.sentences if each.number != TITLE)


def test_where_retrieval_missed_the_gold_an_oracle_is_shown_what_there_is():
    lost = {**ITEM, "context": ITEM["context"][:1]}
    assert titled(read(lost, gold_paragraphs)) == titled(read(lost))
    assert titled(read(lost, supporting_facts)) == titled(read(lost))
    assert read(lost).span is None


@pytest.mark.parametrize("context", [[], [["Fleam", []]]])
def test_an_empty_context_can_be_read(context):
    found = read({**ITEM, "context": context})
    assert found.tokens[0] == "<t>"
    assert found.span is None


def test_a_question_of_a_test_file_is_read_without_an_answer():
    found = read({name: ITEM[name] for name in ("_id", "question", "context")})
    assert (found.answer, found.span) == ("", None)
    assert not any(each.is_fact for each in found.sentences)


def test_the_first_occurrence_at_borders_of_tokens_is_the_answer():
    text = "A lighthouse has a light , light ."
    offsets = tokenizer()(text)
    assert answer_span(text, offsets, "light") == (4, 4), "whole words before parts of others"
    assert answer_span(text, offsets, "lightho") == (1, 1), "the nearest tokens hold it"
    assert answer_span(text, offsets, "keeper") is None


def test_what_is_too_long_is_cut_after_a_whole_sentence():
    found = read()
    assert shortened(found, len(found.tokens), 80) is found
    short = shortened(found, len(found.tokens) - 1, 3)
    assert titled(short) == titled(found)[:-1]
    assert len(short.tokens) == len(short.starts) == len(short.ends) == short.sentences[-1].end
    assert short.question == found.question[:3]
    assert found.span is not None
    assert shortened(found, found.span[0], 80).span is None
    assert len(shortened(found, 2, 80).tokens) == 2
