"""Keeps with a desk session the page of the requester's site that one came from."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("marketplace", "0014_group_keyword")]

    operations = [
        migrations.AddField("desksession", "came_from", models.CharField(blank=True, max_length=500))
    ]
