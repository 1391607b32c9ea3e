"""Keeps the newest vote that a verdict rests on: as many votes need not be the same ones."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0016_release_folders_from_their_base")]

    operations = [
        migrations.AddField("verdict", "last_vote", models.PositiveBigIntegerField(null=True)),
    ]
