"""The one rule for short names: of collections and corpora, in addresses, commands and files."""

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import CheckConstraint, Q

# `\A` and `\Z` mean the same to Python and to PostgreSQL, `$` does not. "new" is a page's address.
PATTERN = r"\A(?!new\Z)[A-Za-z0-9][A-Za-z0-9_-]{0,79}\Z"
RULE = (
    "A short name has up to 80 letters from A to Z, digits, hyphens and underscores, begins with "
    "a letter or a digit, and is not “new”"
)


is_name = RegexValidator(PATTERN, RULE)


class NameField(models.SlugField):
    """A short name that no other row of the model has."""

    default_validators = [is_name]


def slug_is_a_name(model: str) -> CheckConstraint:
    """Return the database's own check of a model's `slug`."""
    return CheckConstraint(condition=Q(slug__regex=PATTERN), name=f"{model}_slug_is_a_name")
