"""The built-in reader answers as many real questions as HotpotQA's README says."""

import random
import re
from pathlib import Path

import pytest

from annotation.protocols.hotpotqa.tests.real import examples
from annotation.readers import too_little
from annotation.readers.light import LightReader
from deploy.benchmarks.light_reader import SETTINGS, measure

README = Path(__file__).parents[2] / "annotation" / "protocols" / "hotpotqa" / "README.md"
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
        monkeypatch.setattr(too_little, "_reader", lambda trained=trained: trained)
        too_little._answers.cache_clear()
        sure += [
            max(
                too_little.confidence(one.question, one.answer, text.title, text.text)
                for text in one.texts
            )
            for one in gold[fold::3]
        ]
    too_little._answers.cache_clear()
    section = README.read_text("utf-8").partition("### A reader that looks on")[2]
    said = re.findall(r"^\| (0\.\d) \| (\d+) \| (\d+) \(\d+ %\) \|$", section, re.MULTILINE)
    assert [least for least, *_ in said] == ["0.6", "0.7", "0.8", "0.9"]
    for least, number, told in said:
        assert int(number) == len(gold)
        assert sum(each >= float(least) for each in sure) == pytest.approx(int(told), abs=2)
