"""Baselines: the score of people, and the paper's trained systems (Book QA 5, 7, A).

The score of people compares the second annotator's answers with the writer's. Each trained system
has its row of the paper's tables. Figures are for the dev set, from 0 to 1 as in `score`.
Tables 1 and 3 give ROUGE-L, Table 8 all measures. The summary setting is in Table 7, the rankers
are in Table 2.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from annotation.metrics.result import Result, ScoreError
from annotation.protocols.bookqa.export import DOCUMENTS, QUESTIONS, SUMMARIES
from annotation.protocols.bookqa.scoring import read_gold, score_against
from readers.trained import Trained

PASSAGES, CANDIDATES = "passages.jsonl", "candidates.jsonl"
SUPERVISION, CLOZE = "distant_supervision.jsonl", "inverse_cloze.jsonl"
LABELS = "labels.csv"
# The files on the full story in a release of ranked books; documents.csv has the titles.
STORY = (PASSAGES, CANDIDATES, QUESTIONS, DOCUMENTS)
VALID = {"set": "valid"}
READERS, RANKERS = "Book QA, Tables 1, 3 and 8 (dev)", "Book QA, Table 2 (dev)"
SUMMARY, TYPES = "Book QA, Table 7 (dev)", "Book QA, 6.3"
# The paper's rows that have no baseline here, by table.
MISSING: Mapping[str, str] = {
    RANKERS: "Not built: the rows of BiDAF and MatchLSTM in BERT's place.",
    READERS: "Not built: the row of ORQA, and the systems that the paper quotes from others.",
    SUMMARY: "Not built: the row of Masque.",
}
# The columns of Table 8.
MEASURES = ("Bleu_1", "Bleu_4", "METEOR", "ROUGE_L", "EM", "F1")
DISTANT, ICT, HARD_EM, BEST = "ranker-distant", "ranker-ict", "ranker-hard-em", "ranker-best"
UNFILTERED = "ranker-unfiltered"
ORACLE = "oracle"


def _full(*percent: float) -> dict[str, float | None]:
    """Return a row of Table 8; percent: in the order of MEASURES."""
    return {name: value / 100 for name, value in zip(MEASURES, percent, strict=True)}


def _only(rouge_l: float) -> dict[str, float | None]:
    """Return a row of Table 1 or 3."""
    return {"ROUGE_L": rouge_l / 100}


def _reader(
    about: str,
    recipe: str,
    paper: Mapping[str, float | None],
    *,
    ranker: str = "",
    module: str = "readers.bookqa.writing",
    **settings: object,
) -> Trained:
    """Return a reader of the full story; ranker: a trained one, the oracle, or blank for BM25."""
    if ranker:
        settings["passages"] = ORACLE if ranker == ORACLE else "ranking"
    return Trained(
        about,
        module,
        settings,
        recipe,
        train_files=STORY,
        dev_file=QUESTIONS,
        needs=(ranker,) if ranker not in ("", ORACLE) else (),
        source=READERS if paper else "",
        paper=paper,
        scoring=VALID,
    )


def _ranker(about: str, file: tuple[str, ...], paper: Mapping[str, float], *stages: str) -> Trained:
    return Trained(
        about,
        "readers.bookqa.passage_rankers",
        {"training": stages},
        "ranker",
        predictions="predictions.jsonl",
        train_files=(*STORY, *file),
        dev_file=QUESTIONS,
        source=RANKERS,
        paper={name: value / 100 for name, value in paper.items()},
    )


def _summary(about: str, recipe: str, module: str, paper: Mapping[str, float]) -> Trained:
    hard_em = {"hard_em": True} if module == "readers.bookqa.reading" else {}
    return Trained(
        about,
        module,
        {"about": "summary", **hard_em},
        recipe,
        train_files=(QUESTIONS, SUMMARIES),
        dev_file=QUESTIONS,
        source=SUMMARY,
        paper={name: value / 100 for name, value in paper.items()},
        scoring={**VALID, "events": True},
    )


RANKED: Mapping[str, Trained] = {
    DISTANT: _ranker(
        "BERT ranker, distant supervision (4.2)",
        (SUPERVISION,),
        {"EM@5": 24.26, "ROUGE_L@5": 52.68},
        "distant",
    ),
    UNFILTERED: _ranker(
        "the same without the filter by ROUGE-L (5.2)",
        (SUPERVISION,),
        {"EM@5": 22.63, "ROUGE_L@5": 51.02},
        "unfiltered",
    ),
    ICT: _ranker(
        "BERT ranker, inverse cloze task (4.2, B)",
        (CLOZE,),
        {"EM@5": 21.29, "ROUGE_L@5": 50.35},
        "ict",
    ),
    HARD_EM: _ranker(
        "BERT ranker, distant supervision, then hard EM (4.2)",
        (SUPERVISION,),
        {"EM@5": 22.45, "ROUGE_L@5": 50.50},
        *("distant", "hard-em"),
    ),
    BEST: _ranker(
        "the paper's best ranker: inverse cloze task, then distant supervision (5.2)",
        (CLOZE, SUPERVISION),
        {
            "EM@3": 22.12,
            "ROUGE_L@3": 49.83,
            "EM@5": 24.83,
            "ROUGE_L@5": 53.19,
            "EM@10": 27.15,
            "ROUGE_L@10": 56.77,
        },
        *("ict", "distant"),
    ),
}
EXTRACTIVE: Mapping[str, Trained] = {
    "bert": _reader(
        "BM25 + BERT span reader on weak labels (4.1)",
        "bert",
        _full(13.27, 0.94, 4.29, 12.59, 4.67, 11.57),
        module="readers.bookqa.reading",
    ),
    "bert-hard-em": _reader(
        "BM25 + BERT span reader, hard EM over all best spans (A)",
        "bert",
        _full(14.39, 1.72, 4.61, 14.10, 5.92, 12.92),
        module="readers.bookqa.reading",
        hard_em=True,
    ),
    "bert-ranked": _reader(
        "ranker-best + BERT span reader: the paper's best extractive system, Tables 5 and 6 (7)",
        "bert",
        # Tables 5 and 6 give figures only by label: `score --labels` computes those.
        {"ROUGE_L": None},
        ranker=BEST,
        module="readers.bookqa.reading",
    ),
    "bert-oracle": _reader(
        "oracle + BERT span reader (A)",
        "bert",
        _full(23.81, 3.54, 9.72, 28.33, 15.27, 28.42),
        ranker=ORACLE,
        module="readers.bookqa.reading",
    ),
}
GENERATIVE: Mapping[str, Trained] = {
    "bart-no-context": _reader("BART, question alone (5.1)", "bart", _only(16.86), passages="none"),
    "bart": _reader(
        "BM25 + BART reader (4.1)", "bart", _full(24.52, 4.28, 8.68, 23.16, 6.28, 21.16)
    ),
    "bart-distant": _reader(
        "ranker-distant + BART reader (A)",
        "bart",
        _full(24.91, 4.28, 8.63, 23.39, 6.67, 21.31),
        ranker=DISTANT,
    ),
    "bart-hard-em": _reader(
        "ranker-hard-em + BART reader (A)",
        "bart",
        _full(25.83, 4.48, 8.75, 24.31, 7.29, 21.91),
        ranker=HARD_EM,
    ),
    "bart-ranked": _reader(
        "ranker-best + BART reader (5.1)",
        "bart",
        _full(27.06, 5.22, 9.35, 25.83, 8.57, 23.80),
        ranker=BEST,
    ),
    "bart-pre-read": _reader(
        "ranker-best + BART reader that has pre-read the training books (4.1)",
        "bart",
        _full(28.54, 6.13, 9.59, 26.82, 10.21, 25.06),
        ranker=BEST,
        pre_reading="all",
    ),
    "bart-pre-read-decoder": _reader(
        "the same, of which the decoder alone has pre-read (5.3)",
        "bart",
        _only(26.51),
        ranker=BEST,
        pre_reading="decoder",
    ),
    "fid-bart": _reader(
        "BM25 + BART, fusion-in-decoder (4.1)", "fid-bart", _only(25.95), fusion=True
    ),
    "fid-bart-ranked": _reader(
        "ranker-best + BART, fusion-in-decoder (5.3)",
        "fid-bart",
        _full(28.04, 5.66, 9.49, 26.27, 9.20, 24.29),
        ranker=BEST,
        fusion=True,
    ),
    "fid-bart-pre-read": _reader(
        "ranker-best + BART, pre-read, fusion-in-decoder: the paper's best (5.1)",
        "fid-bart",
        _full(29.56, 6.11, 10.03, 27.91, 10.45, 26.09),
        ranker=BEST,
        fusion=True,
        pre_reading="all",
    ),
    "fid-bart-oracle": _reader(
        "the same with the oracle's passages (5.1)",
        "fid-bart",
        _full(35.04, 8.84, 14.78, 37.75, 15.78, 37.71),
        ranker=ORACLE,
        fusion=True,
        pre_reading="all",
    ),
    "gpt2": _reader(
        "BM25 + GPT-2 reader (4.1)", "gpt2", _full(24.54, 4.74, 7.32, 20.25, 5.12, 17.72)
    ),
    "gpt2-ranked": _reader(
        "ranker-best + GPT-2 reader (5.3)",
        "gpt2",
        _full(24.85, 5.01, 7.84, 22.22, 7.29, 20.03),
        ranker=BEST,
    ),
    "gpt2-oracle": _reader(
        "oracle + GPT-2 reader (A)",
        "gpt2",
        _full(33.18, 8.16, 12.35, 34.83, 17.09, 33.65),
        ranker=ORACLE,
    ),
    "t5": _reader("BM25 + T5 reader (4.1)", "t5", _full(19.28, 3.67, 6.62, 16.89, 4.17, 15.47)),
    "t5-ranked": _reader(
        "ranker-best + T5 reader (5.3)",
        "t5",
        _full(22.35, 4.31, 7.59, 20.57, 6.13, 18.48),
        ranker=BEST,
    ),
    "t5-oracle": _reader(
        "oracle + T5 reader (A)",
        "t5",
        _full(31.06, 8.36, 12.61, 31.18, 12.77, 31.23),
        ranker=ORACLE,
    ),
    "fid-t5": _reader(
        "BM25 + T5, fusion-in-decoder (Izacard and Grave 2020)", "fid-t5", {}, fusion=True
    ),
}
ON_SUMMARIES: Mapping[str, Trained] = {
    "bert-summary": _summary(
        "BERT span reader of summaries, hard EM (7)",
        "bert-summary",
        "readers.bookqa.reading",
        {"ROUGE_L": 58.1},
    ),
    "bart-summary": _summary(
        "BART reader of summaries (7)",
        "bart-summary",
        "readers.bookqa.writing",
        {"ROUGE_L": 66.9, "event-only: ROUGE_L": 55.1},
    ),
}
TRAINED: Mapping[str, Trained] = {
    **RANKED,
    **EXTRACTIVE,
    **GENERATIVE,
    **ON_SUMMARIES,
    "question-types": Trained(
        "RoBERTa that tells question types, in cross-validation (6.3)",
        "readers.bookqa.classifying",
        train_files=(LABELS,),
        dev_file=LABELS,
        source=TYPES,
        paper={"accuracy, train": 1.0, "accuracy, dev": 0.734, "accuracy, test": 0.702},
    ),
}

HUMAN = "human"
BASELINES = (HUMAN,)
NOTE = "The second answer to each question, held against the first alone."


def run(name: str, predictions: Path, gold: Path, options: Mapping[str, object]) -> Result:
    """Write the second answers as `predictions`, and return their scores against the first ones.

    Raises ScoreError with a message of one line, also if the file `predictions` exists or a
    question of `gold` has only one answer.
    """
    if "train" in options or "seed" in options:
        raise ScoreError(f"{name} learns nothing and draws nothing: leave out --train and --seed.")
    answers = read_gold(gold)
    for key, of in answers.items():
        if len(of) < 2:
            raise ScoreError(f"{gold}: {key} has one answer; people are compared where two are.")
    try:
        with predictions.open("x", encoding="utf-8") as file:
            json.dump({key: of[1] for key, of in answers.items()}, file, ensure_ascii=False)
    except FileExistsError:
        raise ScoreError(
            f"{predictions} is there already; a baseline writes its predictions: name a new file."
        ) from None
    except OSError as error:
        raise ScoreError(f"{predictions}: it cannot be written ({error.strerror}).") from None
    first = {key: of[:1] for key, of in answers.items()}
    result = score_against(predictions, gold, first, options)
    result["notes"].insert(0, NOTE)
    return result


def run_all(folder: Path, gold: Path, options: Mapping[str, object]) -> Result:
    """Write the second answers into a new folder, and return their scores."""
    try:
        folder.mkdir(parents=True)
    except OSError:
        raise ScoreError(f"{folder} cannot be made; name a new folder.") from None
    return run(HUMAN, folder / f"{HUMAN}.json", gold, options)
