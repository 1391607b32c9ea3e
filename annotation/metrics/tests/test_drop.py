"""The DROP evaluators against the golden vectors, and the alignment against scipy."""

import math
import random

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from annotation.metrics import drop
from annotation.metrics.drop import Score, Variant
from annotation.metrics.tests.golden import vectors

texts = st.lists(st.sampled_from(["the", "a", "Ada", "ada's", "1,000", "1000", "-", "5km", ""]))
answers = st.lists(texts.map(" ".join), min_size=1, max_size=5)


def test_every_golden_pair_has_the_official_scores_and_normal_forms() -> None:
    pairs = vectors("iirc_drop.json")["get_metrics_pairs"]
    assert len(pairs) == 800
    for pair in pairs:
        em, f1 = drop.metrics(pair["pred"], pair["gold"])
        assert {"em": em, "f1": f1} == pair["expected"], pair
        for side in ("gold", "pred"):
            spans = [pair[side]] if isinstance(pair[side], str) else pair[side]
            assert [drop.normalise(span) for span in spans] == pair[f"norm_{side}"]


@pytest.mark.parametrize(
    ("variant", "prefix"), [(Variant.NONE_AWARE, "iirc"), (Variant.ALLENNLP, "allennlp")]
)
def test_every_golden_annotation_has_the_official_scores(variant: Variant, prefix: str) -> None:
    annotations = vectors("iirc_drop.json")["drop_annotations"]
    assert len(annotations) == 300
    for annotation in annotations:
        strings, kind = drop.answer_strings(annotation["qa"]["answer"], variant)
        assert [list(strings), kind] == annotation[f"{prefix}_strings"]
        prediction = None if annotation["missing"] else annotation["prediction"]
        score = drop.score_question(annotation["qa"], prediction, variant)
        assert score == Score(**annotation[f"{prefix}_expected"]), annotation


@pytest.mark.parametrize("n_rows", range(1, 6))
@pytest.mark.parametrize("n_columns", range(1, 6))
def test_the_alignment_is_as_good_as_scipys(n_rows: int, n_columns: int) -> None:
    rng = random.Random(f"{n_rows} {n_columns}")
    for _ in range(40):
        scores = [
            [rng.choice([0.0, 0.4, 2 / 3, 0.8, 1.0]) for _ in range(n_columns)]
            for _ in range(n_rows)
        ]
        rows, columns = linear_sum_assignment(-numpy.array(scores))
        best = sum(scores[row][column] for row, column in zip(rows, columns, strict=True))
        assert math.isclose(sum(drop.align(scores)), best)


@settings(max_examples=200)
@given(answers, answers)
def test_exact_match_is_symmetric_and_the_order_of_spans_is_nothing(
    one: list[str], other: list[str]
) -> None:
    assert drop.exact_match(one, other) == drop.exact_match(other, one)
    assert drop.metrics(one, other)[0] == drop.metrics(one[::-1], other)[0]
    assert drop.f1(one, one) == 1.0


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("1_000", "1000.0"),
        ("10,00", "1000.0"),
        ("10.5%", "105.0"),
        ("$3.50", "350.0"),
        ("12:30", "1230.0"),
        ("-5", "5.0"),
        ("−5", "−5"),
        ("A-Team", "team"),
        ("5km", "5km"),
        ("nan", "nan"),
    ],
)
def test_it_normalises_as_the_official_code_does(text: str, normal: str) -> None:
    assert drop.normalise(text) == normal


def test_a_gold_number_must_be_met() -> None:
    assert drop.metrics("5 years", "5") == (0.0, 0.67)
    assert drop.metrics("6 years", "5 years") == (0.0, 0.0)


def test_an_answer_without_content_is_none_in_one_variant_and_an_error_in_the_other() -> None:
    assert drop.answer_strings({"number": "", "spans": []}) == (("none",), "none")
    with pytest.raises(ValueError, match="neither number, spans nor date"):
        drop.answer_strings({"number": "", "spans": []}, Variant.ALLENNLP)


def test_no_spans_on_either_side_have_no_f1() -> None:
    assert math.isnan(drop.f1([], []))
