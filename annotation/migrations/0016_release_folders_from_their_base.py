"""Names releases' folders from the home, or from where releases are, so that both can be moved."""

from pathlib import Path

from django.conf import settings
from django.db import migrations


def each_name(apps, change):
    """Replace the folder of every release by what `change` makes of it and of both bases."""
    bases = {"releases": Path(settings.RELEASES), "home": Path(settings.HOME)}
    rows = apps.get_model("annotation", "Release").objects
    for row in rows.only("folder").order_by("pk").iterator(1000):
        changed = change(row.folder, bases)
        if changed != row.folder:
            rows.filter(pk=row.pk).update(folder=changed)


def from_its_base(folder, bases):
    for name, base in bases.items():
        if Path(folder).is_relative_to(base):
            return f"{name}/{Path(folder).relative_to(base)}"
    return folder


def absolute(folder, bases):
    name, _, rest = folder.partition("/")
    return str(bases[name] / rest) if name in bases else folder


def shorten(apps, schema_editor):
    each_name(apps, from_its_base)


def lengthen(apps, schema_editor):
    each_name(apps, absolute)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0015_agreeing_by_hand")]

    operations = [migrations.RunPython(shorten, lengthen)]
