"""The number that everything drawn in a collection comes from is no seed of its own."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("collector", "0013_archive_and_dropped_seeds")]

    operations = [
        migrations.RenameField("collection", old_name="seed", new_name="random_seed"),
    ]
