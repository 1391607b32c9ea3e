"""As published, links and contexts are scored, cut and chosen as the official code does."""

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from transformers import BertConfig, BertModel, BertTokenizer

from annotation.metrics.tests.golden import vectors
from annotation.protocols.iirc.official_files import MAIN, Link, Span, numbered
from readers.iirc.questions import Articles, Asked
from readers.iirc.retrieval import (
    AS_PUBLISHED,
    ContextLearner,
    Cut,
    Cutter,
    LinkItem,
    LinkLearner,
    Quirks,
    link_item,
    selected,
)
from readers.learners.encoder import Encoder, Pieces

# Of the official code's modules, what ours are called.
OURS = {
    "bert_model.": "encoder.model.",
    "link_classifier.0.": "classifier.",
    "passage_scorer.0.": "classifier.",
}
NO_WEIGHTS_OF_OURS = "pooler"
# What stands in a window behind its last piece.
PADDING = 0


@dataclass(frozen=True)
class Official:
    """The official code's inputs and outputs, and our stages with its weights."""

    told: Any
    links: LinkLearner
    contexts: ContextLearner
    cutter: Cutter

    def equal(self, ours: object, official: object) -> None:
        """Assert that numbers are equal to the tolerance that their file states."""
        tolerance = self.told["tolerance"]
        numpy.testing.assert_allclose(ours, official, rtol=tolerance["rel"], atol=tolerance["abs"])


@cache
def official() -> Official:
    """Return them; skips where the vectors are not at hand."""
    told = vectors("readers_iirc.json")
    links, contexts = LinkLearner(encoder(told), 0.5), ContextLearner(encoder(told))
    for model, prefix in ((links.model, "link/"), (contexts.model, "selector/")):
        model.double().load_state_dict(weights(prefix))
        model.eval()
    return Official(told, links, contexts, Cutter(contexts.model.encoder, Cut(), AS_PUBLISHED))


def encoder(told: Any) -> Encoder:
    """Return an encoder of the official shape and vocabulary, where a later row wins."""
    vocabulary = {piece: number for number, piece in enumerate(told["wordpiece_vocab"])}
    model = BertModel(BertConfig(**told["bert_config"]), add_pooling_layer=False)
    return Encoder("golden", model, BertTokenizer(vocab=vocabulary))


def weights(prefix: str) -> dict[str, torch.Tensor]:
    """Return the weights under our names."""
    path = Path(os.environ["COLLECTOR_DATA"]).parent / "vectors" / "readers_iirc.npz"
    found = {}
    with numpy.load(path) as arrays:
        for name in arrays.files:
            if name.startswith(prefix) and NO_WEIGHTS_OF_OURS not in name:
                ours = our_name(name.removeprefix(prefix))
                found[ours] = torch.from_numpy(arrays[name]).double()
    return found


def our_name(official_name: str) -> str:
    """Return our name of an official parameter."""
    for theirs, our in OURS.items():
        official_name = official_name.replace(theirs, our)
    return official_name


def asked_of(case: Any) -> Asked:
    """Return the question of one case of link prediction."""
    links = tuple(Link(link["target"], *link["indices"]) for link in case["links"])
    return Asked("", case["question"], case["passage"], links)


def as_seen(case: Any, quirks: Quirks = AS_PUBLISHED) -> LinkItem:
    """Return what link prediction sees of a case."""
    told = zip(case["link_targets"], case["labels"], strict=True)
    right = {title for title, label in told if label}
    return link_item(official().links.model.encoder, asked_of(case), right, quirks)


@pytest.mark.parametrize("number", range(6))
def test_links_are_seen_and_scored_as_the_official_code_does(number: int) -> None:
    case = official().told["link_prediction"][number]
    item = as_seen(case)
    assert list(item.window.ids) == case["bert_input"]
    assert list(item.window.segments) == case["sequence_ids"]
    assert [list(span) for span in item.spans] == case["link_spans"]
    assert list(item.targets) == case["link_targets"]
    assert list(item.labels) == case["labels"]
    learner = official().links
    scores = [score for _, score in learner.answers([item])[0]]
    official().equal(scores, case["scores"])
    official().equal(learner.loss([item]).item(), case["bce_loss"])


@pytest.mark.parametrize("number", range(6))
def test_without_the_order_bug_each_score_is_of_the_link_that_it_was_made_of(number: int) -> None:
    case = official().told["link_prediction"][number]
    quirks = Quirks(**{**vars(AS_PUBLISHED), "links_in_reverse": False})
    assert list(as_seen(case, quirks).targets) == case["correct_target_of_each_span"]
    item = as_seen(case, Quirks())
    told = len(case["correct_target_of_each_span"])
    # Without marks in the text there is room for more of it.
    assert len(item.targets) >= told
    assert list(item.targets)[:told] == case["correct_target_of_each_span"]


@pytest.mark.parametrize("number", range(7))
def test_articles_are_cut_into_the_official_windows(number: int) -> None:
    case, cutter = official().told["windows"][number], official().cutter
    size, stride = case["window_size"], case["window_stride"]
    pieces = cutter.encoder.pieces(case["article"])
    assert list(pieces.ids) == case["article_tokens"]
    spans = [pieces.within(*place) for place in sorted(case["gold_char_spans"])]
    assert [list(span) for span in spans if span] == case["gold_token_spans"]
    item = cutter.item("", "A", case["article"], case["gold_char_spans"], None, size, stride)
    assert [len(window.offsets) for window in item.windows] == case["lengths"]
    assert [pieces.offsets.index(window.offsets[0]) for window in item.windows] == case[
        "window_starts"
    ]
    assert list(item.labels) == case["labels"]
    last = item.windows[-1]
    ids = [*last.ids[last.begin :], *[PADDING] * (size - len(last.offsets))]
    assert ids == case["last_window"]


@pytest.mark.parametrize("number", range(6))
def test_windows_are_seen_and_scored_as_the_official_code_does(number: int) -> None:
    case, cutter = official().told["context_selection"][number], official().cutter
    item = cutter.item(
        case["question"],
        MAIN if case["context_argument"] is None else "A",
        case["article"],
        case["gold_char_spans"],
        beside(case["context_argument"]),
        case["window_size"],
        case["window_stride"],
    )
    official_inputs = zip(case["model_input"], case["attended_lengths"], strict=True)
    assert [list(window.ids) for window in item.windows] == [
        ids[:attended] for ids, attended in official_inputs
    ]
    assert {window.begin for window in item.windows} == {case["added_length"]}
    assert [len(window.offsets) for window in item.windows] == case["lengths"]
    assert list(item.labels) == case["labels"]
    learner = official().contexts
    official().equal(learner.model(item.windows).sigmoid().detach(), case["scores"])
    official().equal(learner.loss([item]).item(), case["bce_loss"])
    assert learner.answers([item]) == [int(numpy.argmax(case["scores"]))]


def beside(argument: str | list[str] | None) -> Pieces | None:
    """Return what the official code reads of the passage, given as text or as its sentences."""
    cutter = official().cutter
    if argument is None or isinstance(argument, str):
        return None if argument is None else cutter.encoder.pieces(argument)
    evidence, passage = [], ""
    for sentence in argument:
        evidence.append(Span(MAIN, sentence, len(passage), len(passage) + len(sentence)))
        passage += f"{sentence} "
    return cutter.evidence(Asked("", "", passage, (), evidence=tuple(evidence)), size=0)


def test_the_whole_way_to_contexts_is_the_official_one() -> None:
    told = official().told["drop_style"]
    questions = [
        (asked_of({**passage, "passage": passage["text"], **question}), question)
        for passage in told["data"]
        for question in passage["questions"]
        if question["answer"]["type"] != "bad"
    ]
    asked = [each for each, _ in questions]
    learner, reads = official().links, official().links.model.encoder
    items = [link_item(reads, each, (), AS_PUBLISHED) for each in asked]
    links = [learner.chosen(found) for found in learner.answers(items)]
    contexts = selected(
        official().cutter,
        official().contexts.answers,
        asked,
        links,
        Articles(told["context_articles"]),
    )
    ours = {}
    for item, found in zip(numbered(told["data"]), contexts, strict=True):
        pair = {
            "question": item.question["question"],
            "answer": item.answer,
            "validated_answers": [item.answer],
            "query_id": item.query_id,
        }
        passage = "</s>".join(part.text for part in found)
        ours[f"q_{item.number}"] = {"passage": passage, "qa_pairs": [pair]}
    assert ours == told["expected"]


def test_every_official_parameter_is_one_of_ours() -> None:
    stages = {"link/": official().links.model, "selector/": official().contexts.model}
    ours = {
        f"{prefix}{name}": list(value.shape)
        for prefix, model in stages.items()
        for name, value in model.state_dict().items()
    }
    theirs = {}
    for name, shape in official().told["parameters"]:
        if NO_WEIGHTS_OF_OURS not in name:
            prefix, _, rest = name.partition("/")
            theirs[f"{prefix}/{our_name(rest)}"] = shape
    assert ours == theirs
