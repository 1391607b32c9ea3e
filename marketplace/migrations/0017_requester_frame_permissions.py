"""Keeps what a requester's tasks may use of a worker's browser; nothing, unless they ask for it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("marketplace", "0016_form_keys")]

    operations = [
        migrations.AddField(
            "requester",
            "frame_permissions",
            models.CharField(blank=True, default="", max_length=100),
        ),
    ]
