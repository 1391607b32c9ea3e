"""Label schemes: those of the protocols, and what is wrong with one in a line."""

from pathlib import Path

import pytest

from collector.protocols.label_schemes import read_scheme, scheme_of, schemes_of
from collector.protocols.loading import Protocol, ProtocolError, all_protocols, get_protocol

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
        '{ value = "wry", group = "dark", over = ["glad"] }',
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
        (['{ value = "a" }', '{ value = "a" }'], "two choices of 'tone' are the same"),
        (
            ['{ value = "a", key = "x" }', '{ value = "b", key = "x" }'],
            "two choices of 'tone' have the key 'x'",
        ),
        (['{ value = "a", key = "n" }'], "a choice of 'tone' has 'n', a key of the page"),
        (['{ value = "a", key = "x" }', '{ value = "b" }'], "give a key to all choices of 'tone'"),
        (['{ value = "a", over = ["c"] }'], "'a' wins over 'c', which 'tone' has not"),
        (
            [
                '{ value = "a", over = ["b"] }',
                '{ value = "b", over = ["c"] }',
                '{ value = "c", over = ["a"] }',
                '{ value = "d", over = ["a"] }',
            ],
            "in 'tone' these win over one another: ['a', 'b', 'c', 'd']",
        ),
        (['{ value = "a", over = ["a"] }'], "these win over one another: ['a']"),
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
    with pytest.raises(ProtocolError, match="every choice of 'tone' needs a group: shade is it"):
        read_scheme(path)


def test_a_scheme_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(ProtocolError, match=r"tones\.toml: it cannot be read"):
        read_scheme(tmp_path / "tones.toml")
    first = all_protocols()[0]
    with pytest.raises(ProtocolError, match=f"{first.name}' has no label scheme 'tones'. Known: "):
        scheme_of(get_protocol(first.name), "tones")


def test_a_label_stage_can_name_its_scheme(tmp_path: Path) -> None:
    (tmp_path / "labels").mkdir()
    written(tmp_path / "labels", '{ value = "a" }', '{ value = "b" }')
    (tmp_path / "protocol.toml").write_text('[label]\nscheme = "tones"\n', "utf-8")

    table = Protocol("toned", tmp_path).defaults()["label"]

    assert isinstance(table, dict)
    assert table["fields"][0]["choices"] == [{"value": "a"}, {"value": "b"}]


def test_a_stage_that_names_a_scheme_which_is_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "protocol.toml").write_text('[label]\nscheme = "tones"\n', "utf-8")
    with pytest.raises(ProtocolError, match=r"lacks .*tones.toml: write it"):
        Protocol("toned", tmp_path).defaults()
