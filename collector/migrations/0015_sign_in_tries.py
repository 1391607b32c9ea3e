"""Counts tries to sign in by a bucket of tokens for each account and address."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('collector', '0014_rename_random_seed'),
    ]

    operations = [
        migrations.CreateModel(
            name='SignInTries',
            fields=[
                ('key', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('full_at', models.DateTimeField(db_index=True)),
            ],
        ),
    ]
