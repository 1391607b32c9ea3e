"""The metrics of answers in free words: ROUGE-L first, BLEU, METEOR, EM and F1 (Book QA 3.3, A).

Predictions: an object from question id to answer. Gold: a qaps.csv, or an object from question id
to a list of references. Both are lower-cased and freed of punctuation first, as the paper does it,
except where they are to be taken as they are.
"""

import json
import string
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from annotation.metrics.generated_text import (
    LONGEST,
    MeteorError,
    bleu,
    bleu_counts,
    find_meteor,
    meteor,
    meteor_counts,
    paired_bootstrap,
    rouge_l,
)
from annotation.metrics.result import Option, Result, ScoreError, read_file
from annotation.metrics.token_overlap import score_v1
from annotation.protocols.bookqa.export import answers_by_id
from annotation.protocols.bookqa.parameters import defaults
from annotation.protocols.bookqa.question_labels import (
    NOTE,
    PAPER,
    SCHEME,
    called,
    label_groups,
    read_labels,
)
from annotation.protocols.bookqa.verbs import texts_with_verbs

SETS = ("train", "valid", "test")
OPTIONS: Mapping[str, Option] = {
    "set": {
        "type": str,
        "metavar": "SET",
        "choices": SETS,
        "help": f"score the questions of one set of a qaps.csv that has several: {', '.join(SETS)}",
    },
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
    "events": {
        "action": "store_true",
        "help": "score the questions apart that have a verb in one of their answers (T7)",
    },
    "tagger": {
        "type": str,
        "metavar": "MODEL",
        "help": "spaCy's model that tells verbs for --events, by name or folder; found by itself "
        "where an English one is installed, else words tell",
    },
    "against": {
        "type": str,
        "metavar": "PREDICTIONS",
        "help": "another system's predictions: how sure the difference is, by as many subsets, "
        "and as large ones, as ranking.bootstrap_subsets and _size in protocol.toml say",
    },
}
BLEUS = tuple(f"Bleu_{n}" for n in range(1, LONGEST + 1))
METEOR = "METEOR"
# The paper's columns of Tables 5 and 6.
BESIDE = ("paper's share %", "paper's Gen ROUGE_L %", "paper's Ext ROUGE_L %")
# What the row of questions with event-typed answers is called.
EVENTS = "event-only"
WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)
SEED = 0
# What of a question is added up: itself, ROUGE-L, EM and F1, what BLEU counts, and where its
# program is there what METEOR counts.
MEANS, OF_BLEU = 4, 2 + 2 * LONGEST


def score(predictions: Path, gold: Path, options: Mapping[str, object]) -> Result:
    """Return the measures, 0 to 1; options: those of OPTIONS.

    A question without a prediction is answered by nothing. Raises ScoreError in one line.
    """
    part = cast(str | None, options.get("set"))
    return score_against(predictions, gold, read_gold(gold, part), options)


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
    notes = _missing(predictions, given, wanted)
    systems = [given]
    if against := cast(str | None, options.get("against")):
        systems.append(_answers(Path(against), gold, references))
        notes += _missing(Path(against), systems[1], wanted)
    answers = [{key: clean(of.get(key, "")) for key in wanted} for of in systems]
    program = cast(str | None, options.get("meteor"))
    parts = _with_meteor([_parts(of, wanted) for of in answers], answers, wanted, program, notes)
    official = _official(parts[0].sum(axis=0))
    result: Result = {
        "official": official,
        "groups": {},
        "columns": ["", "questions", *(f"{name} %" for name in official)],
        "rows": [["all", str(len(wanted)), *_percents(official)]],
        "notes": notes,
    }
    if against:
        _compare(result, *parts)
    labels, tagger = (cast(str | None, options.get(name)) for name in ("labels", "tagger"))
    events = bool(options.get("events") or tagger)
    if labels or events:
        whole = read_gold(gold)
        result["columns"].insert(2, "share %")
        for row in result["rows"]:
            row.insert(2, "")
    if events:
        _add_events(result, parts[0], [whole[key] for key in wanted], tagger)
    if labels:
        _break_down(result, parts[0], list(wanted), Path(labels), whole)
    return result


def normalised(text: str) -> str:
    """Return the text in lower case, without ASCII punctuation, its words one blank apart."""
    return " ".join(text.lower().translate(WITHOUT_PUNCTUATION).split())


def check_gold(gold: Path) -> None:
    """Raise ScoreError unless this is gold."""
    if not any(answer.strip() for each in read_gold(gold).values() for answer in each):
        raise ScoreError(f"{gold}: no question has an answer; give a file that has some.")


def read_gold(path: Path, part: str | None = None) -> dict[str, list[str]]:
    """Return the references by question id; raises ScoreError naming the file and the place.

    Of a qaps.csv, a release's or the published one, both answers of each question; part: of one of
    its sets alone, where it has several.
    """
    if path.suffix.lower() == ".csv":
        return _of_table(path, part)
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


def _of_table(path: Path, part: str | None) -> dict[str, list[str]]:
    try:
        found = answers_by_id(path.name, read_file(path), part)
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
    found = {"ROUGE_L": rouge / number}
    found |= zip(BLEUS, bleu([float(each) for each in sums[MEANS : MEANS + OF_BLEU]]), strict=True)
    if len(sums) > MEANS + OF_BLEU:
        found[METEOR] = float(meteor(sums[MEANS + OF_BLEU :]))
    return found | {"EM": em / number, "F1": f1 / number}


def _measured(sums: Any) -> Any:
    """Return float[n_subsets, n_measures] of sums over the questions of subsets."""
    import numpy

    return numpy.array([list(_official(row).values()) for row in sums])


def _with_meteor(
    parts: Sequence[Any],
    answers: Sequence[Mapping[str, str]],
    wanted: Mapping[str, Sequence[str]],
    given: str | None,
    notes: list[str],
) -> list[Any]:
    """Return the parts of each system with what METEOR counts.

    Where its program is not there they are as they were, which the notes say. Raises ScoreError
    for a program that was given and does not answer.
    """
    import numpy

    program = Path(given) if given else find_meteor()
    left_out = "METEOR is left out" + (", and its p value" if len(answers) > 1 else "")
    if program is None:
        notes.append(
            f"{left_out}: it needs Java and meteor-1.5.jar (--meteor JAR, or the package "
            "pycocoevalcap, which brings it)."
        )
        return list(parts)
    references = list(wanted.values())
    try:
        counts = [meteor_counts(program, list(each.values()), references) for each in answers]
    except MeteorError as error:
        if given:
            raise ScoreError(str(error)) from None
        notes.append(f"{left_out}: {error}")
        return list(parts)
    return [numpy.hstack(pair) for pair in zip(parts, counts, strict=True)]


def _compare(result: Result, parts: Any, other: Any) -> None:
    """Add the other system's row, and one of p values, to the result."""
    theirs = _official(other.sum(axis=0))
    numbers = defaults().ranking
    subsets, size = numbers.bootstrap_subsets, min(numbers.bootstrap_size, len(parts))
    shares = paired_bootstrap(parts, other, _measured, SEED, subsets=subsets, size=size)
    p_values = dict(zip(theirs, shares, strict=True))
    number = str(len(parts))
    result["rows"][0][0] = "predictions"
    result["rows"][1:1] = [
        ["against", number, *_percents(theirs)],
        ["p", "", *(f"{each:.4f}" for each in shares)],
    ]
    result["groups"] |= {"against": theirs, "p": p_values}
    result["notes"].append(
        f"p: of {subsets:,} subsets of {size:,} questions, drawn with replacement, the share in "
        "which the predictions are not better than those they are held against."
    )


def _break_down(
    result: Result, parts: Any, keys: Sequence[str], path: Path, known: Collection[str]
) -> None:
    """Add a row for each label that a question has, in the scheme's order, to the result.

    Its share is of the questions with labels, as in the paper's Tables 5 and 6, whose figures stand
    in the last columns. known: all questions of the gold, of which others may be labelled too.
    """
    labels, simulated = read_labels(path, keys, known)
    beside = [[""] * len(BESIDE) for _ in result["rows"]]
    for label, places, whole in label_groups(labels, keys):
        _add_group(result, called(*label), parts[places], whole)
        share, *systems, _ = PAPER[label]
        beside.append([f"{100 * share:.1f}", *(f"{100 * rouge:.2f}" for rouge in systems)])
    result["columns"] += BESIDE
    for row, cells in zip(result["rows"], beside, strict=True):
        row += cells
    result["notes"].append(NOTE)
    if simulated:
        result["notes"].append(f"Labels of simulated workers: of {simulated} questions.")
    missing = len(keys) - len(labels)
    if missing:
        result["notes"].append(f"Questions without labels, in no row of a label: {missing}.")


def _add_events(
    result: Result, parts: Any, answers: Sequence[Sequence[str]], tagger: str | None
) -> None:
    """Add a row of the questions with a verb in either answer, and what has told verbs."""
    verbs = texts_with_verbs((text for of in answers for text in of), tagger)
    places = [place for place, of in enumerate(answers) if not verbs.having.isdisjoint(of)]
    if places:
        _add_group(result, EVENTS, parts[places], len(parts))
    result["notes"].append(
        f"{EVENTS}: {len(places):,} of {len(parts):,} questions, which have a verb in one of "
        f"their answers, by {verbs.told_by}."
    )


def _add_group(result: Result, called: str, parts: Any, whole: int) -> None:
    """Add the row of some of the questions, with their share of the whole."""
    found, number = _official(parts.sum(axis=0)), len(parts)
    result["groups"][called] = {**found, "questions": number, "share": number / whole}
    result["rows"].append([called, str(number), f"{100 * number / whole:.1f}", *_percents(found)])


def _percents(measures: Mapping[str, float]) -> list[str]:
    return [f"{100 * value:.2f}" for value in measures.values()]


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
