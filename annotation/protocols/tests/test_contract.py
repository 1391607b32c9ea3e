"""Every protocol's folder keeps the contract by which the engine finds and calls its parts."""

import inspect
import json
import random
import re
import shutil
from collections.abc import Callable
from copy import deepcopy
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, get_args

import pytest
from django.template.loader import get_template

from annotation.agreement.decision import Outcome
from annotation.protocols.contracts import (
    BASELINES,
    COMBINED,
    CONTEXTS,
    EXPORT,
    RANKERS,
    REPORT,
    SCORING,
    TRAINED,
    VALIDATION,
)
from annotation.protocols.tests.folders import PROTOCOLS, leaves, tables
from annotation.release.release_files import Spool
from collector.models import Collection
from collector.protocols.loading import PARAMETERS, Part, Protocol, ProtocolError
from collector.protocols.parameters import FOLDS, Table
from collector.seeds.candidate import CURATED_SEEDS, SEEDS, SPLITS
from tasks.pages.wording import fill_placeholders
from tasks.simulation.simulated_contract import SIMULATED
from tasks.work.kinds.kind import CHECKS
from tasks.work.kinds.registry import kind_of
from tasks.work.samples import Sample

SOURCE = "# source: "
TEXTS = (".csv", ".tsv", ".trec")
EXAMPLES = [
    {
        "key": f"{fold}{n}",
        "fold": fold,
        "worker": f"w{n}",
        "single_hop": n == 0,
        "correct": n == 1,
        "loss": 0.5,
        "rests_on": {f"passage {n}": fold},
    }
    for fold in FOLDS
    for n in range(3)
]

# The least that such a file can say.
LEAST = {
    "seeds": "def candidates(corpus, parameters, rng): return []",
    "splits": "",
    "export": "SPLITS = ('dev',)\ndef files(seeds_by_split, articles): ...\n"
    "def published(files): ...",
}

pytestmark = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.name)


def takes(function: Callable[..., Any], names: tuple[str, ...]) -> bool:
    """Return whether the function can be called with exactly these arguments, by place or name."""
    signature = inspect.signature(function)
    signature.bind(*names)
    return list(signature.parameters)[: len(names)] == list(names)


def parts_of(protocol: Protocol) -> list[Part[object]]:
    """Return the parts that the engine asks of the folder: those it needs and those it has."""
    seeds = CURATED_SEEDS if protocol.part(SEEDS).CURATED else SEEDS
    needed = [PARAMETERS, seeds, CHECKS, VALIDATION, SPLITS, EXPORT, SIMULATED]
    # One file has two parts: baselines that are run as they are, and trained ones.
    baselines = ((BASELINES, "run"), (TRAINED, "TRAINED"))
    return [
        *needed,
        *(part for part in (SCORING, RANKERS, REPORT, CONTEXTS, COMBINED) if protocol.has(part)),
        *(part for part, member in baselines if protocol.has(part, member)),
    ]


def test_every_part_offers_what_is_called_as_it_is_called(protocol: Protocol) -> None:
    for part in parts_of(protocol):
        offered = protocol.part(part)
        for member in part.members():
            arguments = part.arguments(member)
            if arguments is not None and hasattr(offered, member):
                assert takes(getattr(offered, member), arguments), f"{part.name}.{member}"


def test_what_a_folder_leaves_out_is_done_as_for_most(protocol: Protocol, tmp_path: Path) -> None:
    folder = tmp_path / protocol.name
    shutil.copytree(protocol.folder, folder)
    for name in ("seeds", "splits", "export"):
        (folder / f"{name}.py").write_text(LEAST[name])
    least = Protocol(protocol.name, folder)
    assert least.part(SEEDS).texts_of(["First.", "Second."]) == ["First."]
    assert least.part(SPLITS).plan([], protocol.parameters(), random.Random(1)) == {}
    (placed,) = least.part(SPLITS).assign([{"fold": "dev"}], None, random.Random(1))
    assert placed == ({"fold": "dev"}, "dev", "planned_with_the_seed")
    assert list(least.part(EXPORT).identified(iter([{"id": "a"}]))) == [{"id": "a"}]
    assert least.part(EXPORT).WITHHELD == {}
    assert not least.has(SEEDS, "counter")


def test_what_a_folder_lacks_is_named_with_how_it_is_called(
    protocol: Protocol, tmp_path: Path
) -> None:
    folder = tmp_path / protocol.name
    shutil.copytree(protocol.folder, folder)
    (folder / "checks.py").write_text("")
    (folder / "simulated.py").write_text("def fill(page, behaviour, rng, open_article): ...")
    (folder / "validation.py").unlink()
    least = Protocol(protocol.name, folder)
    with pytest.raises(ProtocolError, match=r"checks.py lacks problems\(kind, data, items, table"):
        least.part(CHECKS)
    with pytest.raises(ProtocolError, match=r"cannot inspect: .*inspect\(kind, data, items, open"):
        least.part(SIMULATED, "inspect")
    with pytest.raises(ProtocolError, match=r"lacks .*validation.py: write it"):
        least.part(VALIDATION)


def test_what_runs_baselines_names_them(protocol: Protocol) -> None:
    if protocol.has(BASELINES, "run"):
        names = protocol.part(BASELINES).BASELINES
        assert names
        assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)


def test_its_parameters_load_and_are_named_after_the_folder(protocol: Protocol) -> None:
    parameters = protocol.parameters()
    assert parameters.protocol.name == protocol.name == protocol.folder.name
    assert parameters.protocol.version == protocol.part(PARAMETERS).VERSION
    assert protocol.resolved(parameters.model_dump(mode="json")) == parameters


def test_an_unknown_key_is_refused_by_file_and_name_in_every_table(protocol: Protocol) -> None:
    for path in tables(protocol.defaults()):
        values = deepcopy(protocol.defaults())
        table = values
        for name in path:
            table = table[name]
        table["no_such_key"] = 1
        with pytest.raises(ProtocolError) as refusal:
            protocol.resolved(values)
        assert str(protocol.folder / "protocol.toml") in str(refusal.value)
        assert ".".join((*path, "no_such_key")) in str(refusal.value)


def test_a_collection_made_before_is_reported_as_protocol_toml_says(protocol: Protocol) -> None:
    values = protocol.defaults()
    told = values.pop("report", {})
    assert protocol.resolved(values) == protocol.parameters()
    for name in told:
        rest = {key: value for key, value in told.items() if key != name}
        assert protocol.resolved({**values, "report": rest}) == protocol.parameters()


def test_a_missing_and_a_mistyped_value_are_refused_by_name(protocol: Protocol) -> None:
    for stage in protocol.parameters().stages():
        values = deepcopy(protocol.defaults())
        values[stage]["reward_cents"] = "much"
        del values[stage]["title"]
        with pytest.raises(ProtocolError) as refusal:
            protocol.resolved(values)
        assert f"{stage}.reward_cents" in str(refusal.value)
        assert f"{stage}.title" in str(refusal.value)


def test_its_stages_are_of_known_kinds_and_build_on_one_another(protocol: Protocol) -> None:
    parameters = protocol.parameters()
    stages = parameters.stages()
    earlier = {"seeds"}
    for name, table in stages.items():
        kind_of(table).limits(table, parameters)
        get_template(f"hits/{table.kind}.html")
        assert table.items_from in earlier, f"{name}.items_from"
        assert not table.requires or stages[table.requires].qualifies, f"{name}.requires"
        earlier.add(name)
    assert any(table.items_from == "seeds" and not table.qualifies for table in stages.values())


def test_every_stage_and_the_consent_have_words_without_gaps(protocol: Protocol) -> None:
    parameters = protocol.parameters()
    collection = Collection(
        title="Pilot",
        requester_name="Rita",
        requester_contact="rita@example.org",
        ethics_number="7",
    )
    first = next(iter(parameters.stages()))
    for name in ("consent", *parameters.stages()):
        stage = first if name == "consent" else name
        words = fill_placeholders(protocol.text(name), collection, parameters, stage)
        said = re.sub(r"<!--.*?-->", "", words, flags=re.DOTALL)
        assert len(said.split()) > 20, name
        assert re.findall(r"\{[a-z_]+\}", said) == [], name


def test_no_words_promise_as_many_items_as_a_last_hit_may_not_have(protocol: Protocol) -> None:
    for path in (protocol.folder / "instructions").glob("*.md"):
        assert not re.search(r"You (see|get) \{", path.read_text("utf-8")), path.name


def test_no_words_promise_a_note_to_those_who_pass(protocol: Protocol) -> None:
    # They are told that they passed, and what it opens; a note goes to those who do not.
    for path in (protocol.folder / "instructions").glob("*.md"):
        assert "with a note" not in path.read_text("utf-8"), path.name


def test_no_words_ask_for_a_guess_where_a_reason_stands_for_the_answer(protocol: Protocol) -> None:
    for name, table in protocol.parameters().stages().items():
        if any(field.instead_of for field in getattr(table, "fields", ())):
            assert "guess" not in protocol.text(name), name


def test_its_readme_names_every_parameter(protocol: Protocol) -> None:
    readme = (protocol.folder / "README.md").read_text("utf-8")
    named = set()
    for line in readme.splitlines():
        table = ""
        for word in re.findall(r"`([\w*]*\.[\w*.]+)`", line):
            # "`splits.train`, `.dev`" names two of one table.
            name = f"{table}{word}" if word.startswith(".") else word
            table = name.rpartition(".")[0]
            named |= {name, f"{name}.*"}
    unnamed = [
        leaf
        for leaf in leaves(protocol.defaults())
        if not any(fnmatch(leaf, pattern) for pattern in named)
    ]
    assert unnamed == []


def test_every_value_says_where_it_comes_from(protocol: Protocol) -> None:
    """What is a paper's names its section and quotes it; all else is ours and says so."""
    keys = [line for line in lines_of(protocol) if re.match(r"[a-z_]+ *=", line)]
    quoted = r'# source: \w+ [\w.]+( \w+)*, "[^"]+"'
    assert [line for line in keys if not re.search(rf"{quoted}|# ours\b", line)] == []


def test_what_is_quoted_stands_in_the_paper(protocol: Protocol, papers: Path) -> None:
    lines = [line for line in lines_of(protocol) if SOURCE in line]
    if not lines:
        pytest.skip("no value of this protocol is a paper's")
    named = {path.stem.replace("-", ""): path for path in papers.glob("*.txt")}
    assert protocol.name in named, f"{papers} has no text of {protocol.name}"
    paper = named[protocol.name]
    text = bare(paper.read_text("utf-8"))
    missing = [
        (words, line)
        for line in lines
        for words in re.findall(r'"([^"]+)"', line.partition(SOURCE)[2])
        if bare(words) not in text
    ]
    assert missing == []


def lines_of(protocol: Protocol) -> list[str]:
    """Return the lines of protocol.toml."""
    return (protocol.folder / "protocol.toml").read_text("utf-8").splitlines()


def bare(text: str) -> str:
    """Return a text without what a copy of a paper may have lost or added: blanks, markup, case."""
    return re.sub(r"[\s$*_\\{}]", "", text.replace("–", "-").replace("’", "'")).lower()


def test_nothing_is_decided_without_votes(protocol: Protocol) -> None:
    for fold in FOLDS:
        verdict = protocol.part(VALIDATION).verdict([], protocol.parameters(), fold)
        assert verdict.outcome == Outcome.WAITING
        assert verdict.chosen is None


def test_every_example_is_in_exactly_one_split_that_is_exported(protocol: Protocol) -> None:
    def placed() -> list[tuple[str, str]]:
        assign = protocol.part(SPLITS).assign
        found = list(assign(EXAMPLES, protocol.parameters(), random.Random(5)))
        assert all(reason for _, _, reason in found)
        return [(example["key"], split) for example, split, _ in found]

    assert sorted(key for key, _ in placed()) == sorted(each["key"] for each in EXAMPLES)
    assert {split for _, split in placed()} <= set(protocol.part(EXPORT).SPLITS)
    assert placed() == placed()


def test_what_it_withholds_are_splits_of_its_own_whose_gold_it_writes(protocol: Protocol) -> None:
    withheld = protocol.part(EXPORT).WITHHELD
    assert set(withheld) <= set(protocol.part(EXPORT).SPLITS)
    assert not withheld or protocol.has(EXPORT, "gold")


def test_its_sample_is_read_and_written_again_equal(protocol: Protocol, tmp_path: Path) -> None:
    sample = json.loads((protocol.folder / "sample.json").read_text("utf-8"))
    export = protocol.part(EXPORT)
    given = {name: _content(name, value) for name, value in sample.items()}
    published = export.published(given)
    assert set(published.splits) == set(given)
    spool = Spool(tmp_path / "records.jsonl").fill(export.identified(published.seeds))
    names = [split for split in published.splits.values() if split] or export.SPLITS
    written = export.files({name: spool.of_split(name) for name in names}, published.articles)
    assert {name: _value(name, b"".join(chunks)) for name, chunks in written} == sample


def _content(name: str, value: Any) -> bytes:
    if name.endswith(TEXTS):
        return value.encode()
    if name.endswith(".jsonl"):
        return b"".join(json.dumps(line).encode() + b"\n" for line in value)
    return json.dumps(value).encode()


def _value(name: str, content: bytes) -> Any:
    if name.endswith(TEXTS):
        return content.decode()
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in content.splitlines()]
    return json.loads(content)


def test_no_two_tables_of_its_report_share_a_name_or_a_title(protocol: Protocol) -> None:
    if not protocol.has(REPORT):
        return
    told = protocol.part(REPORT).tables([], protocol.parameters())
    # A table's name is that of its files; these two stand below the protocol's own.
    names = [*(table.name for table in told), "outcomes", "pay"]
    titles = [*(table.title for table in told), "What became of the questions", "Pay per stage"]
    assert len({*names}) == len(names)
    assert len({*titles}) == len(titles)


def test_every_kind_of_its_stages_has_a_worked_sample(protocol: Protocol) -> None:
    kinds = {table.kind for table in protocol.parameters().stages().values()}
    assert set(protocol.samples()) == kinds
    for name, table in protocol.samples().items():
        shown = Sample.model_validate(table)
        assert {attempt.good for attempt in shown.attempts} == {True, False}, name


def test_every_parameter_has_a_sentence_that_says_what_it_is(protocol: Protocol) -> None:
    silent = [
        f"{table.__name__}.{name}"
        for table in _tables_of(type(protocol.parameters({})))
        for name, field in table.model_fields.items()
        if not _tables_in(field.annotation) and not (field.description or "").endswith(".")
    ]
    assert silent == []


def _tables_of(root: type[Table]) -> set[type[Table]]:
    below = {one for field in root.model_fields.values() for one in _tables_in(field.annotation)}
    return {root, *(table for one in below for table in _tables_of(one))}


def _tables_in(annotation: Any) -> list[type[Table]]:
    """Return the tables that a field holds: itself one, or a list of them."""
    parts = (annotation, *get_args(annotation))
    return [one for one in parts if isinstance(one, type) and issubclass(one, Table)]
