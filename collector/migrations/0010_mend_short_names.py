"""Gives collections and corpora whose short names fit no address or file others that do."""

import re

from django.db import migrations

NAME = re.compile(r"\A(?!new\Z)[A-Za-z0-9][A-Za-z0-9_-]{0,79}\Z")
LONGEST = 80


def mend(apps, schema_editor):
    for model in ("Collection", "Corpus"):
        rows = apps.get_model("collector", model).objects
        taken = set(rows.values_list("slug", flat=True))
        for row in rows.order_by("pk").only("pk", "slug"):
            if not NAME.match(row.slug):
                row.slug = mended(row.slug, model.lower(), taken)
                taken.add(row.slug)
                row.save(update_fields=["slug"])


def mended(slug, model, taken):
    """Return a name as like the old one as can be that no other row has."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", slug).strip("-_")[:LONGEST] or model
    name, number = plain, 1
    while name in taken or not NAME.match(name):
        number += 1
        ending = f"-{number}"
        name = plain[: LONGEST - len(ending)] + ending
    return name


class Migration(migrations.Migration):

    dependencies = [("collector", "0009_candidate_sets")]

    operations = [migrations.RunPython(mend, migrations.RunPython.noop, elidable=True)]
