"""The forms of a new collection, of documents and of candidate sets, and what others carry."""

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.text import slugify

from collector.ingest.documents.catalogue import described, formats
from collector.ingest.documents.files import MOST_FILES
from collector.ingest.ingestion import CorpusOptions
from collector.ingest.licences import ADDRESSES, CLOSED
from collector.language_names import is_language
from collector.models import Collection, Corpus, SetRole
from collector.models.corpus import CorpusKind, CorpusState, is_name
from collector.models.documents import curators_of
from collector.protocols.loading import Protocol, ProtocolError, all_protocols, get_protocol
from collector.protocols.parameters import Parameters
from collector.seeds.selection import is_for_documents, misfit_of
from common.actions import ActionError
from common.sent_form import OnceField
from tasks.crowd.groups import listed
from tasks.crowd.requester_api import MarketplaceError, asked_once
from tasks.lifecycle.publication import provider_name
from tasks.pages.wording import price
from tasks.work.kinds.hit_words import description_of, title_of

LONGEST_AMOUNT = 40
ENDINGS = [ending for each in formats().values() for ending in each.extensions]
ACCEPTED = ",".join(f".{ending}" for ending in (*ENDINGS, "zip"))
# A hundred thousand titles take a fifth of it.
MAX_BYTES = 10_000_000
MAX_SETS = 1000


def number_of(text: str, digits: int = 18, otherwise: int = 0) -> int:
    """Return a whole number that a form carries, `otherwise` for anything else.

    digits: how many it has at most; with eighteen it fits every column of whole numbers.
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else otherwise


@contextmanager
def refusals_shown(request: HttpRequest) -> Iterator[None]:
    """Have the next page say why what is done in the block was refused."""
    try:
        yield
    except ActionError as error:
        messages.error(request, error.on_page)


def marketplace_problem(error: MarketplaceError, then: str) -> str:
    """Return what a requester reads when the marketplace refused or did not answer."""
    if error.is_refusal:
        return f"The marketplace refused: {error} Nothing was changed."
    place = provider_name().capitalize()
    return f"{place} does not answer. Start it, then {then}: nothing was changed."


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


class ManyFiles(forms.FileInput):
    """A control that takes several files."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Cleaned, it is the list of the files sent."""

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile]:  # type: ignore[override]
        """Return the files, in the order they were sent."""
        return [one for one in data or () if one]


class UploadForm(forms.Form):
    """Documents for a new corpus, or for the one called `into`."""

    # Needed, unless a folder is chosen in its place.
    use_required_attribute = False
    documents = FilesField(
        label="Files",
        widget=ManyFiles(attrs={"accept": ACCEPTED}),
        help_text=f"{described()}, or a zip of them; 100 MB at once.",
    )
    folder = FilesField(
        label="Or a folder",
        required=False,
        widget=ManyFiles(attrs={"webkitdirectory": ""}),
        help_text="All that can be read in it; names of its folders become part of the ids.",
    )
    name = forms.CharField(
        label="Name of the corpus", max_length=200, help_text="As people read it."
    )
    slug = forms.CharField(
        label="Short name",
        max_length=80,
        required=False,
        validators=[is_name],
        help_text="For addresses and commands. Left empty, it is made from the name.",
    )
    language = forms.CharField(
        label="Language",
        max_length=35,
        required=False,
        help_text="A code such as en, de or ar. Left empty, it is told from the text, and "
        "documents in another language are left out and named.",
    )
    licence = forms.CharField(
        label="Licence",
        max_length=100,
        required=False,
        widget=forms.TextInput(attrs={"list": "licences"}),
        help_text="Under which the documents may be used. Left empty: as they say, or unknown. "
        "With “closed” no word of them is released: only ids, offsets and checksums.",
    )
    licence_url = forms.URLField(
        label="Address of the licence", max_length=500, required=False, assume_scheme="https"
    )
    once = OnceField()

    def __init__(self, *args: Any, into: Corpus | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.into = into
        if into is None:
            # Its name is new, and tells it from all others.
            del self.fields["once"]
        else:
            for name in ("name", "slug", "language", "licence", "licence_url"):
                del self.fields[name]

    def clean(self) -> dict[str, Any]:
        """Return the cleaned data; what is wrong is said at its field."""
        given = super().clean() or {}
        given["sent"] = [*given.get("documents", ()), *given.get("folder", ())]
        if not given["sent"]:
            self.add_error("documents", "Choose files, or a folder.")
        if len(given["sent"]) > MOST_FILES:
            self.add_error("documents", f"At most {MOST_FILES:,} at once: pack them into a zip.")
        if self.into is None:
            self._clean_corpus(given)
        return given

    def _clean_corpus(self, given: dict[str, Any]) -> None:
        slug = given.get("slug") or slugify(given.get("name", ""))[:80].lstrip("-_")
        slug = "new-corpus" if slug == "new" else slug
        if not slug and "name" in given and "slug" not in self.errors:
            self.add_error("slug", "Give a short name in Latin letters, digits and hyphens.")
        if Corpus.objects.filter(slug=slug).exists():
            self.add_error("slug", f"There is already a corpus {slug!r}: choose another name.")
        given["slug"] = slug
        code = given.get("language", "").strip().lower()
        if code and not is_language(code):
            self.add_error("language", f"{code!r} is no code of a language, such as en, de or ar.")
        licence = given.get("licence", "")
        if licence and licence not in (*ADDRESSES, CLOSED) and not given.get("licence_url"):
            self.add_error("licence_url", f"Give the address of the licence {licence!r}.")

    def options(self) -> CorpusOptions:
        """Return what was said of the corpus."""
        if self.into is not None:
            return CorpusOptions(self.into.slug)
        given = self.cleaned_data
        return CorpusOptions(
            given["slug"],
            given["name"],
            given["language"].strip().lower(),
            given["licence"],
            given["licence_url"],
        )


def takes_documents(corpus: Corpus) -> bool:
    """Return whether documents can be added: no collection has sets of its pages."""
    return corpus.kind == CorpusKind.DOCUMENTS and not curators_of(corpus).exists()


class TitleFiles(FilesField):
    """Any number of files; their names are the sets'."""

    widget = ManyFiles(attrs={"multiple": True})

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        """Return the files; raises ValidationError for one that is empty or too large."""
        files = [forms.FileField.clean(self, each, initial) for each in data or []]
        for file in files:
            if file.size > MAX_BYTES:
                raise forms.ValidationError(
                    f"{file.name} is too large: give at most {MAX_BYTES // 10**6} MB of titles."
                )
        return files


class SetsForm(forms.Form):
    """`defaults` asks for the corpus's own categories instead of what is named."""

    role = forms.ChoiceField(label="What they are", choices=SetRole.choices, required=False)
    title_files = TitleFiles(
        label="Files", required=False, help_text="One title a line; the file's name is the set's."
    )
    categories = forms.CharField(
        label="Categories",
        required=False,
        help_text="One a line, without “Category:”.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    list_pages = forms.CharField(
        label="List pages",
        required=False,
        help_text="One title a line; each item's first link counts.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    most_linked = forms.IntegerField(
        label="Most-linked pages",
        required=False,
        min_value=0,
        help_text="The most pages of a category; 0 for all.",
    )
    defaults = forms.BooleanField(required=False, widget=forms.HiddenInput)

    def __init__(self, parameters: Parameters, *args: Any, **kwargs: Any) -> None:
        """Begin with the cut of the collection's parameters."""
        super().__init__(*args, **kwargs)
        rule: Any = parameters
        self.fields["most_linked"].initial = rule.seeds.most_linked

    def clean_categories(self) -> list[str]:
        """Return the titles."""
        return _lines(self.cleaned_data["categories"])

    def clean_list_pages(self) -> list[str]:
        """Return the titles."""
        return _lines(self.cleaned_data["list_pages"])

    def clean(self) -> dict[str, Any]:
        """Refuse a form that names nothing, or more than one looks at."""
        values = super().clean() or self.cleaned_data
        named = sum(
            len(values.get(name, [])) for name in ("title_files", "categories", "list_pages")
        )
        if self.errors or values.get("defaults"):
            return values
        if not values.get("role"):
            raise forms.ValidationError("Choose what the sets are: bridge entities or a list.")
        if not named:
            raise forms.ValidationError("Give a file, a category or a list page.")
        if named > MAX_SETS:
            raise forms.ValidationError(f"Name at most {MAX_SETS} sets at once.")
        return values


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
