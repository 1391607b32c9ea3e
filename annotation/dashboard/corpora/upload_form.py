"""The form by which documents are uploaded into a corpus."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.text import slugify

from collector.document_users import curators_of
from collector.ingest.documents.catalogue import described, formats
from collector.ingest.documents.files import MOST_FILES
from collector.ingest.ingestion import CorpusOptions
from collector.ingest.licences import ADDRESSES, CLOSED
from collector.language_names import is_language
from collector.models import Corpus
from collector.models.corpus import CorpusKind
from collector.models.name import is_name
from common.sent_form import OnceField

ENDINGS = [ending for each in formats().values() for ending in each.extensions]
ACCEPTED = ",".join(f".{ending}" for ending in (*ENDINGS, "zip"))


class ManyFiles(forms.ClearableFileInput):
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
