"""Keeps with a message and a batch the key of the form it came with: sent twice, it is one."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("marketplace", "0015_desk_session_came_from")]

    operations = [
        *(
            migrations.AddField(
                name, "form_key", models.CharField(blank=True, default="", max_length=64), False
            )
            for name in ("message", "batch")
        ),
        *(
            migrations.AddConstraint(
                name,
                models.UniqueConstraint(
                    fields=[of, "form_key"], condition=~Q(form_key=""), name=f"one_{name}_per_form"
                ),
            )
            for name, of in (("message", "worker"), ("batch", "project"))
        ),
    ]
