"""Names the marketplace embedded in this process by a word: its address changes with the port."""

from django.conf import settings
from django.db import migrations
from django.db.models import Q


def name_it(apps, schema_editor):
    """Rename what was stored under an address of this machine, or under the one in use now."""
    if not settings.EMBEDDED:
        return
    here = Q(environment__startswith="http://127.0.0.1:") | Q(
        environment__startswith="http://localhost:"
    )
    stored = Q(provider="mturk") & (here | Q(environment=settings.MTURK_ENDPOINT_URL))
    for name in ("Posting", "Session"):
        apps.get_model("tasks", name).objects.filter(stored).update(environment="embedded")
    identities = apps.get_model("tasks", "Identity").objects
    named = set(identities.filter(environment="embedded").values_list("person", flat=True))
    # Who was met under two ports was taken for two people: the first goes on as that person.
    for identity in identities.filter(stored).order_by("pk"):
        if identity.person not in named:
            named.add(identity.person)
            identity.environment = "embedded"
            identity.save(update_fields=["environment"])


class Migration(migrations.Migration):
    dependencies = [
        ("tasks", "0005_rejections"),
    ]

    operations = [
        migrations.RunPython(name_it, migrations.RunPython.noop),
    ]
