"""Keeps places for people whom lists name by old ids, and by whom old ids are used."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('marketplace', '0018_topics_and_queues'),
    ]

    operations = [
        migrations.AddField(
            model_name='worker',
            name='is_awaited',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='workerprofile',
            name='named_by',
            field=models.ManyToManyField(related_name='+', to='marketplace.requester'),
        ),
    ]
