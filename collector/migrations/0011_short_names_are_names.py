"""Lets the database refuse short names that fit no address or file."""

import collector.models.name
from django.db import migrations, models

PATTERN = r"\A(?!new\Z)[A-Za-z0-9][A-Za-z0-9_-]{0,79}\Z"


def name():
    return collector.models.name.NameField(
        max_length=80, unique=True, verbose_name="short name"
    )


def constraint(model):
    return migrations.AddConstraint(
        model_name=model,
        constraint=models.CheckConstraint(
            condition=models.Q(slug__regex=PATTERN), name=f"{model}_slug_is_a_name"
        ),
    )


class Migration(migrations.Migration):

    dependencies = [("collector", "0010_mend_short_names")]

    operations = [
        migrations.AlterField("collection", "requester_contact",
            models.CharField(blank=True, max_length=200)),
        migrations.AlterField("collection", "slug", name()),
        migrations.AlterField("corpus", "slug", name()),
        constraint("collection"),
        constraint("corpus"),
    ]
