"""Writing the labels of a stage in the browser: saved as a scheme, refused at each box, tried."""

import html
import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.dashboard.tests.making import make_lines, make_question
from annotation.dashboard.tests.test_collections import queries
from collector.models import Collection, CollectionState, StageState
from collector.protocols.creation import parameters_of
from collector.protocols.loading import get_protocol
from collector.protocols.stage_tables import LabelTable, parse_scheme, scheme_for, schemes_of

pytestmark = pytest.mark.django_db
PAGE = "/collections/lines/labels/label/"
SIX = ("glad", "proud", "calm", "sad", "cross", "wry")
STATE = re.compile(r'id="page-state" type="application/json">(.*?)</script>')


@pytest.fixture
def lines(rita: Client, settings: Any) -> Collection:
    """Return a collection that was never published, of a protocol with a stage of labels."""
    return make_lines(settings)


def tones(**changed: str) -> dict[str, str]:
    """Return what somebody types who labels tones; `changed` uses __ for the dot."""
    typed = {
        "title": "Tones",
        "source": "Our pilot",
        "f0.label": "Which tone has it?",
        "f0.name": "Tone",
    }
    for place, label in enumerate(SIX):
        typed |= {f"f0.{place}.value": label, f"f0.{place}.hint": f"It sounds {label}."}
    return {**typed, **{name.replace("__", "."): value for name, value in changed.items()}}


def sent(rita: Client, typed: dict[str, Any], do: str = "") -> Any:
    """Return the reply to the form as it stands on the page."""
    seen = re.search(r'name="seen" value="(\d+)"', rita.get(PAGE).content.decode())
    assert seen
    return rita.post(PAGE, {"seen": seen[1], **typed, "do": do})


def table_of(collection: Collection) -> LabelTable:
    """Return what the stage labels by, as it is stored."""
    collection.refresh_from_db()
    table = parameters_of(collection).stages()["label"]
    assert isinstance(table, LabelTable)
    return table


def wrong(page: str) -> dict[str, str]:
    """Return what the page says is wrong, by the id of the box beside which it stands."""
    found = re.findall(r'<p class="wrong" id="([^"]+)-(?:help|wrong)">([^<]+)</p>', page)
    assert {name for name, _ in found} == set(re.findall(r'<a href="#([^"]+)">', page))
    return {name: html.unescape(sentence) for name, sentence in found}


def test_six_labels_are_typed_and_saved_as_the_stage_s_own(rita: Client, lines: Collection) -> None:
    assert sent(rita, tones()).status_code == 302

    table = table_of(lines)
    (field,) = table.fields
    assert (field.name, [choice.value for choice in field.choices]) == ("tone", list(SIX))
    assert (table.scheme, table.scheme_source) == ("tones", "Our pilot")
    assert lines.seeds.count() == 3
    page = rita.get(PAGE).content.decode()
    assert 'value="wry"' in page
    assert "It sounds wry." in page
    overview = rita.get("/collections/lines/").content.decode()
    assert PAGE in overview
    assert "changed Label: fields: tone (6 labels)." in overview


def test_what_is_saved_is_the_file_of_a_protocol_s_scheme(rita: Client, lines: Collection) -> None:
    everything = tones(
        f0__rule="The darker one wins.",
        f0__groups="Shade",
        f0__optional="",
        w0__label="Why?",
        w0__name="reason",
        w0__most="120",
    )
    for place, label in enumerate(SIX):
        group = "bright" if place < 3 else "dark"
        everything |= {f"f0.{place}.key": label[0].upper(), f"f0.{place}.group": group}
    # Two labels have c and d is the page's: others are found at once.
    everything |= {"f0.4.key": "x", "f0.3.over": "Glad, proud\r\ncalm", "f0.3.example": "Alas!"}
    everything |= {"f0.5.key": "y"}
    assert sent(rita, everything).status_code == 302

    file = rita.get(f"{PAGE}file/")
    assert file["Content-Disposition"] == 'attachment; filename="tones.toml"'
    scheme = parse_scheme(file.content, "tones.toml")
    tone, reason = scheme.fields
    stored = table_of(lines).fields[0]
    assert tone.model_dump() == stored.model_dump()
    assert (tone.groups, tone.rule) == ("shade", "The darker one wins.")
    assert tone.choices[3].over == ["glad", "proud", "calm"]
    assert [choice.key for choice in tone.choices] == ["g", "p", "c", "s", "x", "y"]
    assert (reason.name, reason.required, reason.max_characters) == ("reason", False, 120)
    # The page shows it as it was typed, and saving it once more changes nothing.
    page = rita.get(PAGE).content.decode()
    boxes = dict(re.findall(r'<input id="([fw][^"]+)" name="[^"]+" value="([^"]*)"', page))
    texts = re.findall(r'<textarea id="([^"]+)"[^>]*>\n([^<]*)</textarea>', page)
    again = {**boxes, **dict(texts), "title": "Tones", "source": "Our pilot"}
    assert sent(rita, again).status_code == 302
    assert table_of(lines).fields[0] == stored
    assert lines.revisions.filter(key="label.fields").count() == 1


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"f0__1__hint": ""}, {"f0.1.hint": "Say what 'proud' means: it has no definition."}),
        ({"f0__1__value": ""}, {"f0.1.value": "Write something here."}),
        (
            {"f0__1__value": "glad"},
            {"f0.1.value": "Two labels of 'tone' are the same: 'glad'."},
        ),
        (
            {f"f0__{place}__key": key for place, key in enumerate("abaefg")},
            {"f0.2.key": "Two labels of 'tone' have the key 'a'."},
        ),
        (
            {f"f0__{place}__key": key for place, key in enumerate("abcdef")},
            {"f0.3.key": "A label of 'tone' has 'd', a key of the page."},
        ),
        ({f"f0__{place}__key": "é" for place in (0,)}, {"f0.0.key": "Give one small letter"}),
        (
            {"f0__0__over": "sad", "f0__3__over": "wry", "f0__5__over": "glad"},
            {"f0.0.over": "In 'tone' these win over one another in a circle: 'glad', 'sad', 'wry'"},
        ),
        ({"f0__0__over": "grim"}, {"f0.0.over": "'glad' wins over 'grim', which 'tone' has not."}),
        ({"f0__name": "тон"}, {"f0.name": "Give it a name of one or two words"}),
        ({"f0__name": ""}, {"f0.name": "Give it a name of one or two words"}),
        ({"f0__label": ""}, {"f0.label": "Write something here."}),
        (
            {"f0__groups": "Shade"},
            {f"f0.{place}.group": "Every label of 'tone' needs a group" for place in range(6)},
        ),
        ({"title": "", "source": ""}, {"title": "Write something", "source": "Write something"}),
        ({"f0__optional": "yes"}, {"f0.optional": "The first field is what is collected"}),
        (
            {"w0__label": "Why?", "w0__name": "tone"},
            {"w0.name": "Two fields have the same name: 'tone'."},
        ),
        (
            {"w0__label": "Why?", "w0__name": "why", "w0__most": "some"},
            {"w0.most": "Write a whole number"},
        ),
        (
            {"f1__label": "How long?", "f1__name": "length"},
            {"f1.0.value": "Write something here."},
        ),
        (
            {"f0__1__hint": "", "f0__2__value": "glad", "f0__0__over": "grim"},
            {
                "f0.1.hint": "Say what 'proud' means",
                "f0.2.value": "Two labels",
                "f0.0.over": "'glad' wins over 'grim'",
            },
        ),
    ],
)
def test_each_mistake_is_told_at_its_box_and_all_that_was_typed_stays(
    rita: Client, lines: Collection, changed: dict[str, str], told: dict[str, str]
) -> None:
    before = table_of(lines)
    typed = tones(**changed)
    reply = sent(rita, typed)

    assert reply.status_code == 400
    page = reply.content.decode()
    found = wrong(page)
    assert found.keys() == told.keys()
    for name, sentence in told.items():
        assert found[name].startswith(sentence)
        assert found[name].count(". ") == 0
    for value in filter(None, typed.values()):
        assert html.escape(value) in page
    assert table_of(lines) == before
    assert not lines.revisions.exists()


def test_a_form_without_any_label_says_so(rita: Client, lines: Collection) -> None:
    page = sent(rita, {"title": "Tones", "source": "ours"}).content.decode()
    assert wrong(page) == {"f0.label": "Write what labellers decide, and its labels."}


def test_more_rows_and_facets_are_added_and_taken_away_with_nothing_lost(
    rita: Client, lines: Collection
) -> None:
    page = sent(rita, tones(), "more f0").content.decode()
    assert page.count('aria-label="Facet 1, label ') == 10
    assert re.search(r'id="f0.6.value"[^>]* autofocus', page)
    assert 'value="wry"' in page
    page = sent(rita, tones(), "more facet").content.decode()
    assert re.search(r'id="f1.label"[^>]* autofocus', page)
    assert page.count('aria-label="Facet 2, label ') == 6
    page = sent(rita, tones(f1__label="How long?"), "drop f1").content.decode()
    assert "How long?" not in page
    assert 'value="wry"' in page
    assert table_of(lines).fields[0].name == "label"


def test_one_starts_from_any_protocol_s_labels_or_from_nothing(
    rita: Client, lines: Collection
) -> None:
    shipped = schemes_of(get_protocol("iirc"))["errors"]
    page = rita.get(f"{PAGE}?from=iirc/errors").content.decode()
    boxes = dict(re.findall(r'<input id="([^"]+)" name="[^"]+" value="([^"]*)"', page))
    texts = re.findall(r'<textarea id="([^"]+)"[^>]*>\n([^<]*)</textarea>', page)
    assert sent(rita, {**boxes, **{k: html.unescape(v) for k, v in texts}}).status_code == 302
    assert [field.model_dump() for field in table_of(lines).fields] == [
        field.model_dump() for field in shipped.fields
    ]
    page = rita.get(f"{PAGE}?from=blank").content.decode()
    assert page.count('aria-label="Facet 1, label ') == 6
    assert "links" not in re.findall(r'value="([^"]*)"', page)


def test_a_file_of_labels_is_put_into_the_form_and_a_broken_one_is_refused_in_a_line(
    rita: Client, lines: Collection
) -> None:
    file = Path(site.BASE_DIR) / "annotation/protocols/iirc/labels/errors.toml"
    content = b"\xef\xbb\xbf" + file.read_bytes()
    page = sent(rita, {**tones(), "file": SimpleUploadedFile("e.toml", content)}, "read")
    assert 'value="unanswerable"' in page.content.decode()
    assert table_of(lines).fields[0].name == "label"
    for name, content, said in (
        ("e.toml", b"[[", "e.toml is not valid TOML: "),
        ("e.toml", b"\xff\xfe", "e.toml is not valid TOML: "),
        ("e.toml", b"title = 1", "e.toml: title: Input should be a valid string"),
        ("e.toml", b"x" * 200_001, "e.toml is too large to be a label scheme."),
    ):
        given = {**tones(), "file": SimpleUploadedFile(name, content)}
        reply = sent(rita, given, "read")
        assert reply.status_code == 400
        assert said in html.unescape(reply.content.decode())
        assert 'value="wry"' in reply.content.decode()
    assert "Choose a file first." in sent(rita, tones(), "read").content.decode()


def test_labels_may_change_until_their_stage_is_opened(rita: Client, lines: Collection) -> None:
    lines.stages.filter(name="text").update(state=StageState.OPEN)
    Collection.objects.update(state=CollectionState.COLLECTING)
    assert sent(rita, tones()).status_code == 302
    assert lines.seeds.count() == 3
    lines.stages.filter(name="label").update(state=StageState.CLOSED)
    page = rita.get(PAGE).content.decode()
    assert "locked since it was opened" in page
    assert 'value="try"' not in page
    assert page.count('aria-label="Facet 1, label ') == len(SIX)
    reply = sent(rita, tones(f0__0__value="merry"))
    assert reply.status_code == 400
    assert "locked since the first publication" in reply.content.decode()
    assert table_of(lines).fields[0].choices[0].value == "glad"


def test_what_somebody_else_saved_meanwhile_is_not_written_over(
    rita: Client, lines: Collection
) -> None:
    assert sent(rita, tones()).status_code == 302
    for seen in ("0", "", "x"):
        reply = rita.post(PAGE, {"seen": seen, **tones(f0__0__value="merry")})
        assert reply.status_code == 400
        assert "Somebody changed something meanwhile" in reply.content.decode()
        assert 'value="merry"' in reply.content.decode()


def test_the_page_is_tried_as_workers_see_it_and_nothing_of_it_is_kept(
    rita: Client, lines: Collection
) -> None:
    reply = sent(rita, tones(), "try")
    assert reply["Location"] == f"{PAGE}try/"
    page = rita.get(reply["Location"]).content.decode()
    found = STATE.search(page)
    assert found
    state = json.loads(found[1])
    assert (state["mode"], state["token"], state["urls"]) == ("trial", "", {})
    assert len(state["items"]) == 3
    assert [choice["value"] for choice in state["limits"]["fields"][0]["choices"]] == list(SIX)
    assert "nothing is kept" in page
    lines.seeds.all().delete()
    assert "Here stands a text of your corpus" in rita.get(f"{PAGE}try/").content.decode()


def test_a_trial_is_with_what_people_wrote_and_with_no_name_of_theirs(
    rita: Client, lines: Collection
) -> None:
    stage = lines.stages.get(name="text")
    for place in range(5):
        make_question(stage, lines.seeds.all()[0], text=f"Line {place}")
    page = rita.get(f"{PAGE}try/").content.decode()
    found = STATE.search(page)
    assert found
    items = json.loads(found[1])["items"]
    assert [item["text"] for item in items] == ["Line 0", "Line 1", "Line 2"]
    assert {*items[0]} == {"id", "text", "passage"}


def test_a_csv_is_counted_by_one_s_own_labels(
    rita: Client, lines: Collection, tmp_path: Path
) -> None:
    assert sent(rita, tones()).status_code == 302
    lines.refresh_from_db()
    assert scheme_for(lines, "tones").title == "Tones"
    file = tmp_path / "labelled.csv"
    file.write_text("id,tone\n1,glad\n2,WRY\n3,\n", "utf-8")
    printed = StringIO()
    call_command("report", "lines", labels=file, scheme="tones", json=True, stdout=printed)
    table = json.loads(printed.getvalue())["tone"]
    place = table["columns"].index("items")
    assert [row[place] for row in table["rows"]] == [1, 0, 0, 0, 0, 1]
    assert "Our pilot" in table["note"]
    file.write_text("id,tone\n1,grim\n", "utf-8")
    with pytest.raises(CommandError, match="Row 1: tone must be one of glad, proud, calm"):
        call_command("report", "lines", labels=file, scheme="tones")


def test_only_a_stage_of_labels_has_such_a_page(rita: Client, lines: Collection) -> None:
    for path in ("text/", "none/", "text/try/", "none/file/"):
        assert rita.get(f"/collections/lines/labels/{path}").status_code == 404


def test_the_page_asks_no_more_of_many_labels(rita: Client, lines: Collection) -> None:
    before = queries(lambda: rita.get(PAGE))
    assert sent(rita, tones()).status_code == 302
    assert queries(lambda: rita.get(PAGE)) == before
