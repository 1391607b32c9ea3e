"""The built-in reader answers as many real questions as HotpotQA's README says."""

import re
from pathlib import Path

import pytest

from annotation.protocols.hotpotqa.tests.real import examples
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
