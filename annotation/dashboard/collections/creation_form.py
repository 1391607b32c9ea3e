"""The form of a new collection."""

from decimal import Decimal
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.text import slugify

from collector.models import Collection, Corpus
from collector.models.corpus import CorpusKind, CorpusState
from collector.models.name import is_name
from collector.protocols.loading import Protocol, ProtocolError, all_protocols, get_protocol
from collector.seeds.selection import is_for_documents, misfit_of
from tasks.crowd.groups import listed
from tasks.crowd.requester_api import MarketplaceError, asked_once
from tasks.pages.wording import price
from tasks.work.kinds.hit_words import description_of, title_of


class CollectionForm(forms.Form):
    """Cleaned, it holds the protocol, the corpus and whole cents beside what was typed."""

    title = forms.CharField(
        label="Name", max_length=200, help_text="Workers and readers of the dataset see it."
    )
    slug = forms.CharField(
        label="Short name",
        max_length=80,
        required=False,
        validators=[is_name],
        help_text="For addresses and commands. Left empty, it is made from the name.",
    )
    protocol = forms.ChoiceField(label="Protocol", help_text="What is collected, and how.")
    corpus = forms.ModelChoiceField(
        label="Corpus", queryset=Corpus.objects.none(), empty_label=None, to_field_name="slug"
    )
    budget = forms.DecimalField(
        label="Budget",
        min_value=Decimal(0),
        max_digits=12,
        decimal_places=2,
        help_text="In the currency of the pay above. No work is handed out that it cannot pay. "
        "You see what the work costs before you publish it, and can raise the budget later.",
    )
    requester_name = forms.CharField(
        label="Your name or your team's", max_length=200, help_text="Shown to every worker."
    )
    requester_contact = forms.CharField(
        label="How workers reach you",
        max_length=200,
        help_text="An address that somebody reads; shown on every page of work.",
    )
    ethics_number = forms.CharField(
        label="Ethics protocol number",
        max_length=120,
        required=False,
        help_text="If your institution gave you one; it is part of the consent text.",
    )
    groups = forms.MultipleChoiceField(
        label="Only for members of",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Groups of the marketplace. Tick none for everybody; of several, members of any "
        "see the work. It can be changed later, for what is posted then.",
    )
    seed = forms.IntegerField(
        label="Random seed",
        required=False,
        help_text="Leave it empty, or give one to choose the same paragraphs again.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["protocol"].choices = protocol_choices()  # type: ignore[attr-defined]
        ready = Corpus.objects.filter(state=CorpusState.READY).order_by("name")
        self.fields["corpus"].queryset = ready  # type: ignore[attr-defined]
        self.initial.setdefault("protocol", _offered_for(ready, self.initial.get("corpus", "")))
        groups = _groups()
        self.fields["groups"].choices = [(name, name) for name in groups]  # type: ignore[attr-defined]
        if not groups:
            del self.fields["groups"]
        self.fields["requester_contact"].widget.attrs["autocomplete"] = "email"

    def has_corpus(self) -> bool:
        """Return whether there is anything to collect from."""
        return bool(self.fields["corpus"].queryset.exists())  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Return the cleaned data; a short name taken or not to be made is said at its field."""
        given = super().clean() or {}
        slug = given.get("slug") or slugify(given.get("title", ""))[:80].lstrip("-_")
        slug = "new-collection" if slug == "new" else slug
        if not slug and "title" in given and "slug" not in self.errors:
            self.add_error("slug", "Give a short name in Latin letters, digits and hyphens.")
        if Collection.objects.filter(slug=slug).exists():
            self.add_error("slug", f"There is already a collection {slug!r}: choose another name.")
        given["slug"] = slug
        if given.get("protocol"):
            given["protocol"] = self._protocol(given)
        if given.get("protocol") and given.get("corpus"):
            told = misfit_of(given["protocol"], given["corpus"])
            if told:
                self.add_error("corpus", f"{given['corpus']} offers no seed. {told}")
        return given

    def _protocol(self, given: dict[str, Any]) -> Protocol | None:
        try:
            protocol = get_protocol(given["protocol"])
            units = protocol.parameters().pay.minor_units
        except ProtocolError as error:
            self.add_error("protocol", str(error))
            return None
        if "budget" in given:
            given["budget_cents"] = int(given["budget"] * 10**units)
        return protocol


def _offered_for(ready: QuerySet[Corpus], slug: str) -> str:
    """Return the protocol that a corpus is shown with first: one for documents where it has them.

    slug: of the corpus, blank for the one that the form shows.
    """
    corpus = ready.filter(slug=slug).first() if slug else ready.first()
    choices = [name for name, _ in protocol_choices()]
    if corpus is not None and corpus.kind == CorpusKind.DOCUMENTS:
        choices.sort(key=lambda name: not is_for_documents(get_protocol(name)))
    return choices[0] if choices else ""


def _groups() -> list[str]:
    """Return the groups of the marketplace by name, none while it is away."""
    try:
        with asked_once():
            return [group.name for group in listed()]
    except MarketplaceError:
        return []


def what_workers_do() -> list[tuple[str, list[tuple[str, str, str]]]]:
    """Return (protocol's title, its stages as title, description and pay of a HIT)."""
    found = []
    for name, title in protocol_choices():
        parameters = get_protocol(name).parameters()
        tables = parameters.stages().values()
        stages = [
            (title_of(one), description_of(one), price(one.reward_cents, parameters))
            for one in tables
        ]
        found.append((title, stages))
    return found


def protocol_choices() -> list[tuple[str, str]]:
    """Return (name, title) of every protocol that this installation can read, as they say."""
    found = []
    for protocol in all_protocols():
        try:
            found.append((protocol.parameters().protocol, protocol.name))
        except ProtocolError:
            continue
    found.sort(key=lambda one: (one[0].order, one[0].title))
    return [(name, table.title) for table, name in found]
