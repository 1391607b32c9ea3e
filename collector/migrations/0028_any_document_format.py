from django.db import migrations, models


class Migration(migrations.Migration):
    """The names of formats are in the catalogue alone: a new one needs no migration."""

    dependencies = [("collector", "0027_upload_is_long_work")]

    operations = [
        migrations.RemoveConstraint("document", "document_format_is_known"),
        migrations.AlterField("document", "format", models.CharField(max_length=10)),
    ]
