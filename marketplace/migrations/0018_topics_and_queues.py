"""Keeps topics, who listens to them, and queues: other ways for the events of HITs."""

import django.db.models.deletion
import marketplace.models.identifiers
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('marketplace', '0017_requester_frame_permissions'),
    ]

    operations = [
        migrations.AddField(
            model_name='event',
            name='topic_arn',
            field=models.CharField(blank=True, default='', max_length=320),
        ),
        migrations.CreateModel(
            name='Queue',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80)),
                ('visibility_seconds', models.IntegerField(default=30)),
                ('created_at', models.DateTimeField()),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='queues', to='marketplace.requester')),
            ],
        ),
        migrations.AddField(
            model_name='event',
            name='queue',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='marketplace.queue'),
        ),
        migrations.CreateModel(
            name='Topic',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=256)),
                ('created_at', models.DateTimeField()),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='topics', to='marketplace.requester')),
            ],
        ),
        migrations.CreateModel(
            name='Subscription',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('identifier', models.CharField(default=marketplace.models.identifiers.new_entity_id, max_length=64, unique=True)),
                ('endpoint', models.TextField()),
                ('token', models.CharField(default=marketplace.models.identifiers.new_secret, max_length=64, unique=True)),
                ('confirmed_at', models.DateTimeField(null=True)),
                ('topic', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='subscriptions', to='marketplace.topic')),
            ],
        ),
        migrations.AddConstraint(
            model_name='queue',
            constraint=models.UniqueConstraint(fields=('requester', 'name'), name='one_queue_per_name'),
        ),
        migrations.AddConstraint(
            model_name='topic',
            constraint=models.UniqueConstraint(fields=('requester', 'name'), name='one_topic_per_name'),
        ),
        migrations.AddConstraint(
            model_name='subscription',
            constraint=models.UniqueConstraint(fields=('topic', 'endpoint'), name='one_subscription_each'),
        ),
    ]
