"""Writing the labels of a stage: a scheme as a form, saved as the stage's own, tried as a page."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods, require_safe
from pydantic import ValidationError

from annotation.dashboard.access import knows, name_of
from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.dashboard.forms import number_of
from collector.models import CollectionState
from collector.protocols.creation import current_text, is_unopened, newest, revise
from collector.protocols.loading import ProtocolError
from collector.protocols.stage_tables import (
    LabelTable,
    SchemeTable,
    every_scheme,
    label_stages,
    parse_scheme,
    scheme_of_stage,
    toml_of,
)
from common.actions import ActionError
from common.long_bodies import long_bodies_from
from tasks.pages.work_page import trial_page
from tasks.people import lease_context
from tasks.work.kinds.registry import kind_of

# The boxes of a facet, of one of its labels, and of words that are written beside the labels.
OF_FACET = ("label", "name", "rule", "groups", "optional")
OF_LABEL = ("value", "hint", "example", "group", "key", "over")
OF_WORDS = ("label", "name", "most", "required")
# f0.label is a box of the first facet, f0.2.hint one of its third label, w0.label one of words.
BOX = re.compile(r"([fw]\d{1,2})\.(?:(\d{1,2})\.)?([a-z]+)")
FIRST_LABELS, MORE_LABELS, SPARE_LABELS = 6, 4, 2
# No more boxes than a form may send.
MOST_FACETS, MOST_LABELS = 8, 100
# What stands where nothing was typed.
MOST_CHARACTERS = "300"
ON = "yes"
SENTENCES = {
    "string_too_short": "Write something here.",
    "string_too_long": "Write at most {max_length} characters.",
    "int_parsing": "Write a whole number, such as 300.",
    "greater_than_equal": "Write a whole number, such as 300.",
    "too_short": "Write what labellers decide, and its labels.",
    "form": "{sentence}.",
}
PATTERNS = {
    "key": "Give one small letter or one digit.",
    "name": "Give it a name of one or two words in the letters a to z.",
    "groups": "Give it a name of one or two words in the letters a to z.",
}
# What nobody has written yet.
BLANK = "blank"
LARGEST_FILE = 200_000
MOST_IN_A_NAME = 40


def typed_in(sent: Mapping[str, str]) -> dict[str, str]:
    """Return what a form sent, by the name of its box; lines stay in what is listed."""
    known = {*OF_FACET, *OF_LABEL, *OF_WORDS}
    found = {}
    for name, value in sent.items():
        place = BOX.fullmatch(name)
        if name in ("title", "source") or (place and place[3] in known):
            lines = [" ".join(line.split()) for line in value.replace("\x00", "").splitlines()]
            found[name] = ("\n" if name.endswith(".over") else " ").join(filter(None, lines))
    return found


def typed_from(scheme: SchemeTable) -> dict[str, str]:
    """Return a scheme as somebody would have typed it."""
    typed = {"title": scheme.title, "source": scheme.source}
    facets = words = 0
    for field in scheme.fields:
        if not field.choices:
            row = f"w{words}"
            typed |= {f"{row}.label": field.label, f"{row}.name": field.name}
            typed |= {f"{row}.most": str(field.max_characters)}
            typed |= {f"{row}.required": ON} if field.required else {}
            words += 1
            continue
        facet = f"f{facets}"
        typed |= {f"{facet}.{name}": getattr(field, name) for name in OF_FACET[:4]}
        typed |= {} if field.required else {f"{facet}.optional": ON}
        for place, choice in enumerate(field.choices):
            told = {**choice.model_dump(), "over": "\n".join(choice.over)}
            typed |= {f"{facet}.{place}.{name}": told[name] for name in OF_LABEL}
        for spare in range(len(field.choices), len(field.choices) + SPARE_LABELS):
            typed[f"{facet}.{spare}.value"] = ""
        facets += 1
    return typed


def read_typed(typed: Mapping[str, str]) -> tuple[SchemeTable | None, dict[str, str]]:
    """Return the scheme that was typed, or what is wrong, each at its box; blank rows are none."""
    boxes: dict[tuple[str | int, ...], str] = {}
    fields: list[dict[str, object]] = []
    for part in _parts(typed):
        read = _facet if part.startswith("f") else _words
        at = ("fields", len(fields))
        field, inside = read(typed, part)
        if field:
            fields.append(field)
            boxes |= {(*at, *place): box for place, box in inside.items()}
    raw = {"title": typed.get("title", ""), "source": typed.get("source", ""), "fields": fields}
    try:
        return SchemeTable.model_validate(raw), {}
    except ValidationError as error:
        return None, _wrong(error, boxes)


def sheet_of(
    typed: Mapping[str, str], wrong: Mapping[str, str], *, more: str = ""
) -> dict[str, Any]:
    """Return the form with what was typed, and what is wrong in it.

    Each box has its name in the form, what stands in it, and what to mend; `problems` leads from
    what is wrong to its box: (box, where it is, why).

    more: the facet that gets further rows, or "facet" for one more of them.
    """

    def boxes(part: str, names: Iterable[str]) -> dict[str, dict[str, str]]:
        return {name: box(f"{part}.{name}") for name in names}

    def box(name: str) -> dict[str, str]:
        default = MOST_CHARACTERS if name.endswith(".most") else ""
        value = typed.get(name, default)
        return {"name": name, "value": value, "wrong": wrong.get(name, "")}

    parts = _parts(typed)
    facets = [part for part in parts if part.startswith("f")] or ["f0"]
    if more == "facet":
        facets.append(_next("f", facets))
    rows = {facet: _labels_shown(typed, facet, more) for facet in facets}
    can_grow = sum(map(len, rows.values())) < MOST_LABELS
    words = [part for part in parts if part.startswith("w") and _is_filled(typed, part)]
    words.append(_next("w", words))
    return {
        "boxes": {name: box(name) for name in ("title", "source")},
        "facets": [
            {
                "name": facet,
                "number": number,
                "boxes": boxes(facet, OF_FACET),
                "labels": [
                    {"number": place, "boxes": boxes(f"{facet}.{row}", OF_LABEL)}
                    for place, row in enumerate(rows[facet], 1)
                ],
                "can_grow": can_grow,
            }
            for number, facet in enumerate(facets, 1)
        ],
        "words": [
            {"number": place, "boxes": boxes(part, OF_WORDS)} for place, part in enumerate(words, 1)
        ],
        "problems": [(name, where_of(name), sentence) for name, sentence in wrong.items()],
        "can_grow": can_grow and len(facets) < MOST_FACETS,
    }


def without(typed: Mapping[str, str], part: str) -> dict[str, str]:
    """Return what was typed but for one part of the form."""
    return {name: value for name, value in typed.items() if not name.startswith(f"{part}.")}


def first_new(typed: Mapping[str, str], sheet: Mapping[str, Any], more: str) -> str:
    """Return the name of the box to go on in once there are more rows, "" without any."""
    for facet in sheet["facets"]:
        if more == facet["name"]:
            new = (row["boxes"]["value"]["name"] for row in facet["labels"])
            return next((name for name in new if name not in typed), "")
    return str(sheet["facets"][-1]["boxes"]["label"]["name"]) if more == "facet" else ""


def where_of(name: str) -> str:
    """Return where a box stands, for people to read."""
    place = BOX.fullmatch(name)
    if not place:
        return name.capitalize()
    part, row, _ = place.groups()
    number = int(part[1:]) + 1
    if part.startswith("w"):
        return f"Words {number}"
    return f"Facet {number}" + (f", label {int(row) + 1}" if row else "")


def _parts(typed: Mapping[str, str]) -> list[str]:
    """Return the names of the form's parts that something was sent for: facets, then words."""
    parts = {place[1] for name in typed if (place := BOX.fullmatch(name))}
    return sorted(parts, key=lambda part: (part[0], int(part[1:])))


def _rows(typed: Mapping[str, str], facet: str) -> list[int]:
    """Return the numbers of the facet's labels, blank ones too."""
    places = (BOX.fullmatch(name) for name in typed if name.startswith(f"{facet}."))
    return sorted({int(place[2]) for place in places if place and place[2]})


def _labels_shown(typed: Mapping[str, str], facet: str, more: str) -> list[int]:
    rows = _rows(typed, facet)
    wanted = max(FIRST_LABELS, len(rows) + (MORE_LABELS if more == facet else 0))
    last = rows[-1] if rows else -1
    return [*rows, *range(last + 1, last + 1 + wanted - len(rows))]


def _is_filled(typed: Mapping[str, str], part: str, names: Sequence[str] = ()) -> bool:
    """Return whether something was typed in a part of the form."""
    names = names or ("label", "name")
    return any(typed.get(f"{part}.{name}", "").strip() for name in names)


def _next(letter: str, parts: Sequence[str]) -> str:
    return f"{letter}{max((int(part[1:]) for part in parts), default=-1) + 1}"


def _facet(
    typed: Mapping[str, str], facet: str
) -> tuple[dict[str, object], dict[tuple[str | int, ...], str]]:
    """Return a facet as a scheme's file has it, none for a blank one, and the box of each place."""
    rows = [row for row in _rows(typed, facet) if _is_filled(typed, f"{facet}.{row}", OF_LABEL)]
    if not rows and not _is_filled(typed, facet, OF_FACET[:4]):
        return {}, {}
    values = [typed.get(f"{facet}.{row}.value", "") for row in rows]
    choices: list[dict[str, object]] = []
    boxes: dict[tuple[str | int, ...], str] = {
        (): f"{facet}.label",
        ("choices",): f"{facet}.0.value",
        ("required",): f"{facet}.optional",
        **{(name,): f"{facet}.{name}" for name in OF_FACET[:4]},
    }
    # A facet without a label is one whose first label is missing.
    for row in rows or [0]:
        told: dict[str, object] = {n: typed.get(f"{facet}.{row}.{n}", "") for n in OF_LABEL}
        told["over"] = list(_listed(typed.get(f"{facet}.{row}.over", ""), values))
        told["key"] = str(told["key"]).lower()
        boxes |= {("choices", len(choices), n): f"{facet}.{row}.{n}" for n in OF_LABEL}
        choices.append(told)
    field = {name: typed.get(f"{facet}.{name}", "") for name in ("label", "rule")}
    columns = {name: _column(typed.get(f"{facet}.{name}", "")) for name in ("name", "groups")}
    required = typed.get(f"{facet}.optional") != ON
    return {**columns, **field, "required": required, "choices": choices}, boxes


def _words(
    typed: Mapping[str, str], part: str
) -> tuple[dict[str, object], dict[tuple[str | int, ...], str]]:
    """Return words beside the labels as a scheme's file has them, and the box of each place."""
    if not _is_filled(typed, part):
        return {}, {}
    boxes: dict[tuple[str | int, ...], str] = {
        (): f"{part}.label",
        ("max_characters",): f"{part}.most",
        **{(name,): f"{part}.{name}" for name in OF_WORDS},
    }
    field = {
        "name": _column(typed.get(f"{part}.name", "")),
        "label": typed.get(f"{part}.label", ""),
        "required": typed.get(f"{part}.required") == ON,
        "max_characters": typed.get(f"{part}.most", "") or MOST_CHARACTERS,
    }
    return field, boxes


def _column(words: str) -> str:
    """Return what a column of the data is called after a name that people give."""
    return re.sub(r"\W+", "_", words.lower()).strip("_")


def _listed(text: str, labels: Sequence[str]) -> Iterator[str]:
    """Yield labels that are listed one a line or with commas between them, as they are spelled."""
    known = {label.lower(): label for label in labels}
    for line in text.splitlines():
        named = [line] if line.lower() in known else [each.strip() for each in line.split(",")]
        yield from (known.get(each.lower(), each) for each in named if each)


def _wrong(error: ValidationError, boxes: Mapping[tuple[str | int, ...], str]) -> dict[str, str]:
    """Return what is wrong by the name of its box, the first thing where there are several."""
    wrong: dict[str, str] = {}
    for problem in error.errors():
        place = tuple(problem["loc"])
        sentence = _sentence(problem["type"], str(place[-1]), problem)
        while place not in boxes and len(place) > 1:
            place = place[:-1]
        name = boxes.get(place, "f0.label" if place[0] == "fields" else str(place[0]))
        wrong.setdefault(name, sentence)
    order = {name: place for place, name in enumerate(boxes.values())}
    return dict(sorted(wrong.items(), key=lambda told: order.get(told[0], -1)))


def _sentence(kind: str, last: str, problem: Mapping[str, object]) -> str:
    if kind == "string_pattern_mismatch":
        return PATTERNS.get(last, "Write something else here.")
    context = problem.get("ctx")
    told = SENTENCES.get(kind, "{msg}.").format(
        **{"msg": problem["msg"], **(context if isinstance(context, Mapping) else {})}
    )
    return told[:1].upper() + told[1:]


@long_bodies_from(knows)
@collection_page
@require_http_methods(["GET", "HEAD", "POST"])
def label_scheme(request: HttpRequest, context: CollectionContext, stage: str) -> HttpResponse:
    """Show the labels of a stage as a form; what is refused keeps all that was typed."""
    table = _table(context, stage)
    if request.method == "POST":
        return _answer(request, context, stage)
    schemes = every_scheme()
    start = request.GET.get("from", "")
    typed = {} if start == BLANK else typed_from(schemes.get(start) or scheme_of_stage(table))
    return _page(request, context, stage, typed, {}, is_stored=start not in (BLANK, *schemes))


@collection_page
@require_safe
def try_scheme(request: HttpRequest, context: CollectionContext, stage: str) -> HttpResponse:
    """Show the page of the stage as its workers see it, to try; nothing of it is kept."""
    table = _table(context, stage)
    row = context.collection.stages.select_related("collection").get(name=stage)
    words = current_text(context.collection, stage)
    setting = lease_context.stage_context_of(row.pk, words.pk)
    items = kind_of(row).trial_items(row)
    return HttpResponse(trial_page(setting, table.reward_cents, timezone.now(), items))


@collection_page
@require_safe
def scheme_file(request: HttpRequest, context: CollectionContext, stage: str) -> HttpResponse:
    """Return the labels of the stage as a file of a protocol's folder labels/."""
    table = _table(context, stage)
    name = table.scheme or stage
    disposition = f'attachment; filename="{name}.toml"'
    return HttpResponse(
        toml_of(scheme_of_stage(table)),
        content_type="application/toml",
        headers={"Content-Disposition": disposition},
    )


def _table(context: CollectionContext, stage: str) -> LabelTable:
    """Return what a stage labels by; raises Http404 for another kind of stage."""
    stages = label_stages(context.parameters)
    if stage not in stages:
        raise Http404
    return stages[stage]


def _answer(request: HttpRequest, context: CollectionContext, stage: str) -> HttpResponse:
    """Do what the form asks for: more boxes, fewer, a file in place of them, or to save."""
    typed = typed_in(request.POST)
    act, _, part = request.POST.get("do", "").partition(" ")
    if act == "more":
        return _page(request, context, stage, typed, {}, more=part)
    if act == "drop":
        return _page(request, context, stage, without(typed, part), {})
    if act == "read":
        return _read_file(request, context, stage, typed)
    scheme, wrong = read_typed(typed)
    if scheme is None:
        return _page(request, context, stage, typed, wrong, status=400)
    try:
        _store(request, context, stage, scheme)
    except ActionError as error:
        return _page(request, context, stage, typed, {}, problem=error.on_page, status=400)
    if act == "try":
        return redirect(context.url("try_scheme", stage=stage))
    messages.success(request, "Saved. Workers who label from now on choose from these.")
    return redirect(context.url("label_scheme", stage=stage))


def _read_file(
    request: HttpRequest, context: CollectionContext, stage: str, typed: dict[str, str]
) -> HttpResponse:
    """Put a scheme's file into the form, not saved yet; a refused one leaves it as it was."""
    file = request.FILES.get("file")
    problem = ""
    if file is None:
        problem = "Choose a file first."
    elif (file.size or 0) > LARGEST_FILE:
        problem = f"{file.name} is too large to be a label scheme."
    else:
        try:
            typed = typed_from(parse_scheme(file.read(), str(file.name)))
        except ProtocolError as error:
            problem = str(error)
    status = 400 if problem else 200
    return _page(request, context, stage, typed, {}, problem=problem, status=status)


def _store(
    request: HttpRequest, context: CollectionContext, stage: str, scheme: SchemeTable
) -> None:
    """Make the scheme the stage's own; the same once more is no change. Raises ActionError."""
    told = scheme.model_dump(mode="json")
    wanted = {
        f"{stage}.fields": told["fields"],
        f"{stage}.scheme": slugify(scheme.title)[:MOST_IN_A_NAME] or stage,
        f"{stage}.scheme_title": scheme.title,
        f"{stage}.scheme_source": scheme.source,
    }
    stored = _table(context, stage).model_dump(mode="json")
    if all(stored[key.partition(".")[2]] == value for key, value in wanted.items()):
        return
    seen = request.POST.get("seen", "")
    revise(
        context.collection,
        wanted,
        why=scheme.source,
        by=name_of(request),
        now=timezone.now(),
        seen=number_of(seen, otherwise=-1),
    )


def _page(
    request: HttpRequest,
    context: CollectionContext,
    stage: str,
    typed: dict[str, str],
    wrong: dict[str, str],
    *,
    more: str = "",
    problem: str = "",
    is_stored: bool = False,
    status: int = 200,
) -> HttpResponse:
    sheet = sheet_of(typed, wrong, more=more)
    collection = context.collection
    return context.render(
        request,
        "collections/label_scheme.html",
        status=status,
        tab="collection",
        stage=stage,
        words=stage.replace("_", " ").capitalize(),
        table=_table(context, stage),
        sheet=sheet,
        problem=problem,
        focus=first_new(typed, sheet, more),
        is_stored=is_stored,
        can_change=collection.state == CollectionState.DRAFT or is_unopened(collection, stage),
        schemes=[(name, each.title) for name, each in every_scheme().items()],
        seen=newest(collection),
    )
