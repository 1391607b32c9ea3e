"""The metrics of answers in free words: ROUGE-L first, BLEU, METEOR, EM and F1 (Book QA 3.3, A).

Predictions: an object from question id to answer. Gold: a qaps.csv, or an object from question id
to a list of references. Both are lower-cased and freed of punctuation first, as the paper does it,
except where they are to be taken as they are.
"""

import csv
import json
import string
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, cast

from annotation.metrics.bleu import LONGEST, bleu, bleu_counts
from annotation.metrics.meteor import MeteorError, find_meteor, meteor
from annotation.metrics.result import Option, Result, ScoreError, read_file
from annotation.metrics.rouge import rouge_l
from annotation.metrics.significance import SIZE, SUBSETS, paired_bootstrap
from annotation.metrics.squad import score_v1
from annotation.protocols.bookqa.export import answers_by_id
from annotation.reports.scheme_labels import cell_of, labels_of
from collector.protocols.label_schemes import read_scheme
from collector.protocols.stage_tables import ChoiceTable, FieldTable

SCHEME = read_scheme(Path(__file__).parent / "labels/questions.toml")
OPTIONS: Mapping[str, Option] = {
    "raw": {
        "action": "store_true",
        "help": "compare the texts as they are, neither lower-cased nor without punctuation",
    },
    "meteor": {
        "type": str,
        "metavar": "JAR",
        "help": "meteor-1.5.jar; found by itself where the package pycocoevalcap is installed",
    },
    "labels": {
        "type": str,
        "metavar": "CSV",
        "help": "break down by label, groups of labels too (T5, T6): a CSV with the column id and "
        f"{', '.join(facet.name for facet in SCHEME.facets())}",
    },
    "against": {
        "type": str,
        "metavar": "PREDICTIONS",
        "help": "another system's predictions: how sure the difference is, by "
        f"{SUBSETS:,} subsets of {SIZE:,}",
    },
}
BLEUS = tuple(f"Bleu_{n}" for n in range(1, LONGEST + 1))
MEASURES = ("ROUGE_L", *BLEUS, "EM", "F1")
METEOR = "METEOR"
WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)
SEED = 0
# What of a question is added up: itself, ROUGE-L, EM and F1, and then what BLEU counts.
MEANS = 4


def score(predictions: Path, gold: Path, options: Mapping[str, object]) -> Result:
    """Return the measures, 0 to 1; options: "raw", "meteor", "labels", "against".

    A question without a prediction is answered by nothing. Raises ScoreError in one line.
    """
    return score_against(predictions, gold, read_gold(gold), options)


def score_against(
    predictions: Path,
    gold: Path,
    references: Mapping[str, list[str]],
    options: Mapping[str, object],
) -> Result:
    """Return the measures as `score` does, against some of the references that `gold` has."""
    clean = str if options.get("raw") else normalised
    wanted = {key: [clean(each) for each in of] for key, of in references.items()}
    given = _answers(predictions, gold, references)
    answers = {key: clean(given.get(key, "")) for key in wanted}
    parts = _parts(answers, wanted)
    official = _official(parts.sum(axis=0))
    notes = _missing(predictions, given, wanted)
    found = _meteor(answers, wanted, cast(str | None, options.get("meteor")), notes)
    if found is not None:
        official[METEOR] = found
    shown = [name for name in (*MEASURES[:-2], METEOR, *MEASURES[-2:]) if name in official]
    official = {name: official[name] for name in shown}
    result: Result = {
        "official": official,
        "groups": {},
        "columns": ["", "questions", *(f"{name} %" for name in shown)],
        "rows": [["all", str(len(wanted)), *(f"{100 * official[name]:.2f}" for name in shown)]],
        "notes": notes,
    }
    if labels := cast(str | None, options.get("labels")):
        _break_down(result, parts, list(wanted), Path(labels))
    if against := cast(str | None, options.get("against")):
        _compare(result, parts, Path(against), gold, references, wanted, clean)
    return result


def normalised(text: str) -> str:
    """Return the text in lower case, without ASCII punctuation, its words one blank apart."""
    return " ".join(text.lower().translate(WITHOUT_PUNCTUATION).split())


def read_gold(path: Path) -> dict[str, list[str]]:
    """Return the references by question id; raises ScoreError naming the file and the place.

    Of a qaps.csv, a release's or the published one, both answers of each question.
    """
    if path.suffix.lower() == ".csv":
        return _of_table(path)
    loaded = _object(path, "gold must be an object from question id to a list of references")
    for key, references in loaded.items():
        if not (
            isinstance(references, list)
            and references
            and all(isinstance(each, str) for each in references)
        ):
            raise ScoreError(f"{path}: {key} must have a list of references, each a text.")
    if not loaded:
        raise ScoreError(f"{path}: there is no question to score in it; give a file that has some.")
    return loaded


def _of_table(path: Path) -> dict[str, list[str]]:
    try:
        found = answers_by_id(path.name, read_file(path))
    except ValueError as error:
        raise ScoreError(str(error)) from None
    if not found:
        raise ScoreError(f"{path}: there is no question to score in it; give a file that has some.")
    return found


def read_predictions(path: Path) -> dict[str, str]:
    """Return the answers by question id; raises ScoreError naming the file and the id."""
    loaded = _object(path, "predictions must be an object from question id to answer")
    for key, answer in loaded.items():
        if not isinstance(answer, str):
            raise ScoreError(f"{path}: the answer to {key} must be a text, not {answer!r}.")
    return loaded


def _answers(path: Path, gold: Path, references: Mapping[str, object]) -> dict[str, str]:
    found = read_predictions(path)
    if found and found.keys().isdisjoint(references):
        raise ScoreError(
            f"{path}: none of its question ids is of {gold}; give the gold they are for."
        )
    return found


def _parts(answers: Mapping[str, str], wanted: Mapping[str, Sequence[str]]) -> Any:
    """Return float[n_questions, MEANS and BLEU's counts]."""
    import numpy

    rows = [
        (1, rouge_l(answers[key], of), *score_v1(answers[key], of), *bleu_counts(answers[key], of))
        for key, of in wanted.items()
    ]
    return numpy.array(rows, dtype=float)


def _official(sums: Any) -> dict[str, float]:
    """Return the measures of sums over questions."""
    number, rouge, em, f1 = (float(each) for each in sums[:MEANS])
    values = [
        rouge / number,
        *bleu([float(each) for each in sums[MEANS:]]),
        em / number,
        f1 / number,
    ]
    return dict(zip(MEASURES, values, strict=True))


def _measured(sums: Any) -> Any:
    """Return float[n_subsets, n_measures] of sums over the questions of subsets."""
    import numpy

    return numpy.array([list(_official(row).values()) for row in sums])


def _meteor(
    answers: Mapping[str, str],
    wanted: Mapping[str, Sequence[str]],
    given: str | None,
    notes: list[str],
) -> float | None:
    """Return METEOR of the corpus; None, said in the notes, where the program is not there."""
    program = Path(given) if given else find_meteor()
    if program is None:
        notes.append(
            "METEOR is left out: it needs Java and meteor-1.5.jar (--meteor JAR, or the package "
            "pycocoevalcap, which brings it)."
        )
        return None
    try:
        return meteor(program, list(answers.values()), list(wanted.values()))[0]
    except MeteorError as error:
        if given:
            raise ScoreError(str(error)) from None
        notes.append(f"METEOR is left out: {error}")
        return None


def _compare(
    result: Result,
    parts: Any,
    path: Path,
    gold: Path,
    references: Mapping[str, object],
    wanted: Mapping[str, Sequence[str]],
    clean: Any,
) -> None:
    """Add the other system's row, and one of p values, to the result."""
    given = _answers(path, gold, references)
    other = _parts({key: clean(given.get(key, "")) for key in wanted}, wanted)
    theirs = _official(other.sum(axis=0))
    shares = paired_bootstrap(parts, other, _measured, SEED)
    p_values = dict(zip(MEASURES, shares, strict=True))
    shown = [name.removesuffix(" %") for name in result["columns"][2:]]
    result["rows"][0][0] = "predictions"
    result["rows"][1:1] = [
        ["against", str(len(wanted)), *(_percent(theirs.get(name)) for name in shown)],
        ["p", "", *(_p(p_values.get(name)) for name in shown)],
    ]
    result["groups"] |= {"against": theirs, "p": p_values}
    size = min(SIZE, len(wanted))
    result["notes"] += [
        *_missing(path, given, wanted),
        f"p: of {SUBSETS:,} subsets of {size:,} questions, drawn with replacement, the share in "
        "which the predictions are not better than those they are held against.",
    ]


def _break_down(result: Result, parts: Any, keys: Sequence[str], path: Path) -> None:
    """Add a row for each label that a question has, in the scheme's order, to the result."""
    labels = read_labels(path, keys)
    shown = [name.removesuffix(" %") for name in result["columns"][2:]]
    for facet in SCHEME.facets():
        groups = {group: [each.value for each in of] for group, of in _grouped(facet).items()}
        alone = {choice.value: [choice.value] for choice in facet.choices}
        for name, values in ((facet.groups, groups), (facet.name, alone)):
            for label, of in values.items():
                places = [
                    place
                    for place, key in enumerate(keys)
                    if key in labels and labels[key][facet.name] in of
                ]
                if not places:
                    continue
                found = _official(parts[places].sum(axis=0))
                called = f"{name.replace('_', ' ')}: {label}"
                result["groups"][called] = found
                row = [called, str(len(places)), *(_percent(found.get(each)) for each in shown)]
                result["rows"].append(row)
    missing = len(keys) - len(labels)
    if missing:
        result["notes"].append(f"Questions without labels, in no row of a label: {missing}.")


def _grouped(facet: FieldTable) -> dict[str, list[ChoiceTable]]:
    found: dict[str, list[ChoiceTable]] = {}
    for choice in facet.choices:
        found.setdefault(choice.group, []).append(choice)
    return found


def read_labels(path: Path, keys: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the labels by question id; raises ScoreError naming the file and the row."""
    try:
        rows = list(csv.DictReader(StringIO(read_file(path).decode("utf-8-sig"))))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ScoreError(f"{path}: it is no CSV in UTF-8 ({error}).") from None
    known = set(keys)
    found: dict[str, dict[str, str]] = {}
    for number, row in enumerate(rows, 1):
        try:
            key, labels = cell_of(row, "id", number), labels_of(row, number, SCHEME.facets())
        except ScoreError as error:
            raise ScoreError(f"{path}: {error}") from None
        if key not in known:
            raise ScoreError(f"{path}: Row {number}: gold has no question {key!r}.")
        if key in found:
            raise ScoreError(f"{path}: Row {number}: {key} is labelled twice.")
        if labels:
            found[key] = labels
    return found


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f}"


def _p(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _missing(path: Path, given: Mapping[str, str], wanted: Mapping[str, object]) -> list[str]:
    number = len(wanted.keys() - given.keys())
    return [f"{path.name}: questions without a prediction, answered by nothing: {number}."] * bool(
        number
    )


def _object(path: Path, wanted: str) -> dict[str, Any]:
    try:
        loaded = json.loads(read_file(path))
    except (ValueError, RecursionError) as error:
        raise ScoreError(f"{path}: it is not JSON ({error}); give the file as written.") from None
    if not isinstance(loaded, dict):
        raise ScoreError(f"{path}: {wanted}; the order is PREDICTIONS GOLD.")
    return loaded
