"""Says of a collection that it is maintained, as everywhere else."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("collector", "0018_seed_stage_required")]

    operations = [
        migrations.RenameField(
            "collection", old_name="tended_until", new_name="maintained_until"
        ),
    ]
