"""Label schemes: those of the protocols, and what is wrong with one in a line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.protocols.loading import Protocol, ProtocolError, all_protocols
from collector.protocols.stage_tables import (
    SchemeTable,
    read_scheme,
    scheme_from,
    schemes_of,
    toml_of,
)

pytestmark = pytest.mark.pure
HEAD = 'title = "Tones"\nsource = "ours"\n'
FIELD = '[[fields]]\nname = "tone"\nlabel = "Which tone?"\n'


def written(folder: Path, *choices: str, field: str = FIELD) -> Path:
    path = folder / "tones.toml"
    path.write_text(f"{HEAD}{field}choices = [{', '.join(choices)}]\n", "utf-8")
    return path


def test_every_scheme_of_every_protocol_can_be_read() -> None:
    found = {
        f"{protocol.name}/{name}": scheme
        for protocol in all_protocols()
        for name, scheme in schemes_of(protocol).items()
    }
    assert len(found) > 3
    for name, scheme in found.items():
        assert scheme.facets(), name
        for facet in scheme.facets():
            # A digit chooses each where no keys are given.
            assert len(facet.choices) > 1, name


def test_a_scheme_tells_its_facets_groups_and_what_wins(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        '{ value = "glad", group = "bright", hint = "joy", example = "Hooray!" }',
        '{ value = "wry", group = "dark", hint = "mock", over = ["glad"] }',
        field=f'{FIELD}groups = "shade"\nrule = "The darker one wins."\n',
    )
    tone = read_scheme(path).facet("tone")

    assert [choice.value for choice in tone.choices] == ["glad", "wry"]
    assert (tone.group_of("wry"), tone.group_of("none")) == ("dark", "")
    assert tone.choices[1].over == ["glad"]
    assert tone.rule == "The darker one wins."


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        (['{ value = "a" }', '{ value = "a" }'], "two labels of 'tone' are the same: 'a'"),
        (
            ['{ value = "a", key = "x" }', '{ value = "b", key = "x" }'],
            "two labels of 'tone' have the key 'x'",
        ),
        (['{ value = "a", key = "n" }'], "a label of 'tone' has 'n', a key of the page"),
        (['{ value = "a", key = "x" }', '{ value = "b" }'], "give a key to all labels of 'tone'"),
        (['{ value = "a", over = ["c"] }'], "'a' wins over 'c', which 'tone' has not"),
        (
            [
                '{ value = "a", over = ["b"] }',
                '{ value = "b", over = ["c"] }',
                '{ value = "c", over = ["a"] }',
                '{ value = "d", over = ["a"] }',
            ],
            "choices.0.over: in 'tone' these win over one another in a circle: 'a', 'b', 'c'",
        ),
        (['{ value = "a", over = ["a"] }'], "these win over one another in a circle: 'a'"),
        (['{ value = "a", hint = " " }'], "choices.0.hint: say what 'a' means"),
        (['{ value = "a", hint = "why" }'], "'tone' needs two labels or more"),
        (['{ value = "a", colour = "red" }'], "colour: Extra inputs are not permitted"),
        (['{ hint = "no value" }'], "value: Field required"),
        (["{"], "is not valid TOML"),
    ],
)
def test_a_wrong_scheme_is_refused_in_one_line_with_its_file(
    tmp_path: Path, choices: list[str], said: str
) -> None:
    with pytest.raises(ProtocolError) as caught:
        read_scheme(written(tmp_path, *choices))
    assert said in str(caught.value)
    assert "tones.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_groups_that_are_labels_need_a_group_of_each_choice(tmp_path: Path) -> None:
    path = written(tmp_path, '{ value = "a" }', field=f'{FIELD}groups = "shade"\n')
    with pytest.raises(
        ProtocolError, match="every label of 'tone' needs a group: groups are labels too"
    ):
        read_scheme(path)


def test_a_scheme_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProtocolError, match=r"tones\.toml: it cannot be read"):
        read_scheme(tmp_path / "tones.toml")


def test_every_mistake_of_a_scheme_is_told_at_its_place(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        '{ value = "a", key = "x", hint = "{braces}", over = ["b"] }',
        '{ value = "b", key = "x", over = ["a", "c"] }',
        '{ value = "a", key = "d", hint = "the third" }',
    )
    with pytest.raises(ProtocolError) as caught:
        read_scheme(path)
    told = str(caught.value).removeprefix(f"{path}: ").removesuffix(".").split("; ")
    assert [each.partition(": ")[0].removeprefix("fields.0.choices.") for each in told] == [
        "2.value",
        "1.key",
        "2.key",
        "1.over",
        "0.over",
        "1.hint",
    ]


def test_fields_of_one_name_and_a_scheme_that_labels_nothing_are_refused(tmp_path: Path) -> None:
    choices = 'choices = [{ value = "a", hint = "one" }, { value = "b", hint = "two" }]\n'
    grouped = choices.replace("{ ", '{ group = "g", ')
    path = tmp_path / "tones.toml"
    for text, said in {
        f"{FIELD}{choices}{FIELD}": "fields.1.name: two fields have the same name: 'tone'",
        f"{FIELD}groups = 'tone'\n{grouped}": "fields.0.groups: two fields have the same name",
        f"{FIELD}required = false\n{choices}": "fields.0.required: the first field is what",
        FIELD: "fields.0.choices: the first field needs labels",
        "fields = []": "fields: List should have at least 1 item",
    }.items():
        path.write_text(HEAD + text, "utf-8")
        with pytest.raises(ProtocolError) as caught:
            read_scheme(path)
        assert said in str(caught.value)


def test_a_scheme_that_is_written_reads_the_same(tmp_path: Path) -> None:
    path = tmp_path / "again.toml"
    for protocol in all_protocols():
        for scheme in schemes_of(protocol).values():
            path.write_text(toml_of(scheme), "utf-8")
            assert read_scheme(path) == scheme


# What is no text, a NUL or half a character, is refused.
TEXT = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")


@given(st.text(TEXT, min_size=1, max_size=20))
def test_whatever_is_written_in_a_scheme_reads_the_same(words: str) -> None:
    hint = f"{words}."
    labels = [
        {"value": words, "hint": hint},
        {"value": f"{words[:18]}!!", "hint": hint, "over": [words]},
    ]
    field = {"name": "tone", "label": words, "choices": labels}
    scheme = SchemeTable.model_validate({"title": words, "source": words, "fields": [field]})
    assert scheme_from(toml_of(scheme)) == scheme


def test_a_label_stage_can_name_its_scheme(tmp_path: Path) -> None:
    (tmp_path / "labels").mkdir()
    written(tmp_path / "labels", '{ value = "a" }', '{ value = "b" }')
    (tmp_path / "protocol.toml").write_text('[label]\nscheme = "tones"\n', "utf-8")

    table = Protocol("toned", tmp_path).defaults()["label"]

    assert isinstance(table, dict)
    assert table["fields"][0]["choices"] == [{"value": "a"}, {"value": "b"}]
    assert (table["scheme_title"], table["scheme_source"]) == ("Tones", "ours")


def test_a_stage_that_names_a_scheme_which_is_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "protocol.toml").write_text('[label]\nscheme = "tones"\n', "utf-8")
    with pytest.raises(ProtocolError, match=r"lacks .*tones.toml: write it"):
        Protocol("toned", tmp_path).defaults()
