"""The form that names candidate sets: files of titles, categories, list pages."""

from typing import Any

from django import forms

from collector.models import SetRole
from collector.protocols.parameters import Parameters

# A hundred thousand titles take a fifth of it.
MAX_BYTES = 10_000_000
MAX_SETS = 1000


class ManyFiles(forms.FileInput):
    """A field of a form that takes several files at once."""

    allow_multiple_selected = True


class Files(forms.FileField):
    """Any number of files; their names are the sets'."""

    widget = ManyFiles(attrs={"multiple": True})

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        """Return the files; raises ValidationError for one that is empty or too large."""
        files = [super(Files, self).clean(each, initial) for each in data or []]
        for file in files:
            if file.size > MAX_BYTES:
                raise forms.ValidationError(
                    f"{file.name} is too large: give at most {MAX_BYTES // 10**6} MB of titles."
                )
        return files


class SetsForm(forms.Form):
    """`defaults` asks for the corpus's own categories instead of what is named."""

    role = forms.ChoiceField(label="What they are", choices=SetRole.choices, required=False)
    title_files = Files(
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
        help_text="Categories are cut to so many; 0 for all.",
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
