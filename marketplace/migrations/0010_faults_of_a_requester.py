from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("marketplace", "0009_review_policies"),
    ]

    operations = [
        migrations.RenameField("requester", "weather", "faults"),
    ]
