"""The built-in reader answers, and tells of, as many real questions as the READMEs say."""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotation.metrics.token_overlap import answer_tokens
from annotation.protocols import reader_hints
from annotation.protocols.hotpotqa.tests.real import examples
from annotation.protocols.quac import checks as quac
from deploy.benchmarks.light_reader import SETTINGS, measure
from readers.light.light_reader import LightReader

PROTOCOLS = Path(__file__).parents[2] / "annotation" / "protocols"
README = PROTOCOLS / "hotpotqa" / "README.md"
MEASURED = r"([\d.]+) ± ([\d.]+)"


@pytest.mark.data
@pytest.mark.parametrize(("paragraphs", "distracted"), SETTINGS)
def test_it_answers_as_many_real_questions_as_the_readme_says(
    data: Path, paragraphs: str, distracted: bool
) -> None:
    gold = examples(data, distracted=distracted)
    row = rf"^\| {re.escape(paragraphs)} \| {len(gold)} \| {MEASURED} \| {MEASURED} \|$"
    [said] = re.findall(row, README.read_text("utf-8"), re.MULTILINE)
    measured = [number for pair in measure(gold) for number in pair]
    # Another processor adds up in another order, which can tip a question or two.
    assert measured == pytest.approx(list(map(float, said)), abs=0.6)


@pytest.mark.data
def test_it_tells_of_as_many_good_questions_as_the_readme_says(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold = examples(data, distracted=False)
    sure = []
    for fold in range(3):
        reader = LightReader()
        learned = [example for at, example in enumerate(gold) if at % 3 != fold]
        reader.fit(learned, random.Random(1))
        # Not the delivered one: it has learned from all of these questions.
        trained = LightReader.from_json(reader.as_json())
        monkeypatch.setattr(reader_hints, "_reader", lambda trained=trained: trained)
        reader_hints._answers.cache_clear()
        sure += [
            max(
                reader_hints.confidence(one.question, one.answer, text.title, text.text)
                for text in one.texts
            )
            for one in gold[fold::3]
        ]
    reader_hints._answers.cache_clear()
    section = README.read_text("utf-8").partition("### A reader that looks on")[2]
    said = re.findall(r"^\| (0\.\d) \| (\d+) \| (\d+) \(\d+ %\) \|$", section, re.MULTILINE)
    assert [least for least, *_ in said] == ["0.6", "0.7", "0.8", "0.9"]
    for least, number, told in said:
        assert int(number) == len(gold)
        assert sum(each >= float(least) for each in sure) == pytest.approx(int(told), abs=2)


def found(asked: str, title: str, text: str, least: float) -> str:
    """Return what a student would be told that the text answers, blank for nothing."""
    seen = [{"title": title, "background": text}]
    said = [problem.message for problem in quac._read_before([asked], seen, least)]
    return said[0].split("“")[1].split("”")[0] if said else ""


def with_beginnings(data: Path) -> Iterator[tuple[str, str, str]]:
    """Yield (question, title, beginning of the article) of the official questions at hand."""
    for name in ("train", "val"):
        file = data / "official" / "quac" / f"{name}_v0.2.json"
        for article in json.loads(file.read_text("utf-8"))["data"]:
            for paragraph in article["paragraphs"]:
                for asked in paragraph["qas"]:
                    yield asked["question"], article["title"], article["background"]


def with_answers(data: Path) -> Iterator[tuple[str, str, list[str], str]]:
    """Yield (question, title, answers before it, its own) of the released dialogs at hand."""
    file = data / "replay" / "quac_dialogs_from_canard.json"
    for dialog in json.loads(file.read_text("utf-8")):
        before: list[str] = []
        for turn in dialog["turns"]:
            if turn["a"]:
                yield turn["q"], dialog["title"], before[:], turn["a"]
                before.append(turn["a"])


@pytest.mark.data
def test_it_tells_of_as_many_questions_of_dialogs_as_the_readme_says(data: Path) -> None:
    readme = (PROTOCOLS / "quac" / "README.md").read_text("utf-8")
    table = readme.partition("### A reader that looks on")[2]
    rows = re.findall(r"^\| (0\.\d) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", table, re.MULTILINE)
    assert [least for least, *_ in rows] == ["0.5", "0.6", "0.7", "0.8", "0.9"]
    real, dialogs = list(with_beginnings(data)), list(with_answers(data))
    assert f"{len(real)} official questions" in table
    assert f"{len(dialogs):,} questions" in table
    measured: Counter[tuple[str, str]] = Counter()
    for asked, title, beginning in real:
        for least, *_ in rows:
            measured[least, "real"] += bool(found(asked, title, beginning, float(least)))
    for asked, title, before, own in dialogs:
        # Every threshold of one text before the next: a text is read once.
        for least, *_ in rows:
            given = found(asked, title, " ".join([*before, own]), float(least))
            measured[least, "told"] += bool(given)
            measured[least, "right"] += bool(given) and holds(own, given)
        for least, *_ in rows:
            measured[least, "wrong"] += bool(found(asked, title, " ".join(before), float(least)))
    for least, *said in rows:
        kinds = ("real", "told", "right", "wrong")
        counted = [measured[least, kind] for kind in kinds]
        assert counted == pytest.approx(list(map(int, said)), abs=2)


def holds(answer: str, words: str) -> bool:
    """Return whether the words are part of the answer."""
    return " ".join(answer_tokens(words)) in " ".join(answer_tokens(answer))
