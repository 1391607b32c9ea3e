"""A form of the desk that shows what is stored, and is refused when that has changed since."""

from typing import Any

from django import forms

from common.seen_version import OutOfDateError, check_seen, version_of

MOST_SHOWN = 200


class SeenForm(forms.Form):
    """Its page carries `seen`; what is stored is `initial`, empty where nothing is stored yet."""

    @property
    def seen(self) -> str:
        """Return the version of what is stored now."""
        return version_of(self.initial)

    def clean(self) -> dict[str, Any]:
        """Refuse a form out of date, unless what it would store is there already."""
        if self.initial and self.changed_data:
            try:
                check_seen(self.data, self.seen)
            except OutOfDateError as error:
                self.add_error(None, str(error))
                for name in self.changed_data:
                    self.add_error(name, f"Stored now: {self._stored(name)[:MOST_SHOWN]}")
        return self.cleaned_data

    def _stored(self, name: str) -> str:
        stored, words = self.initial.get(name), dict(getattr(self.fields[name], "choices", ()))
        if isinstance(stored, bool):
            return "yes" if stored else "no"
        values = stored if isinstance(stored, list) else [stored]
        return ", ".join(str(words.get(one, one)) for one in values if one != "") or "nothing"
