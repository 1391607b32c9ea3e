"""Keeps with an assignment the key of the preview it was accepted in: pressed twice, it is one."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('marketplace', '0020_payout_handles'),
    ]

    operations = [
        migrations.AddField(
            model_name='assignment',
            name='form_key',
            field=models.CharField(blank=True, default='', max_length=64),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ('accepted', 'submitted', 'approved', 'rejected')), models.Q(('form_key', ''), _negated=True)), fields=('worker', 'form_key'), name='one_live_assignment_per_form'),
        ),
    ]
