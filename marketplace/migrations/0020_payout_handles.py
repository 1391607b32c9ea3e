"""Keeps how a worker wants to be paid: the way, where to, and in whose name."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('marketplace', '0019_awaited_workers'),
    ]

    operations = [
        migrations.AddField(
            model_name='workerprofile',
            name='payout_name',
            field=models.CharField(blank=True, default='', max_length=80),
        ),
        migrations.AddField(
            model_name='workerprofile',
            name='payout_to',
            field=models.CharField(blank=True, default='', max_length=254),
        ),
        migrations.AddField(
            model_name='workerprofile',
            name='payout_way',
            field=models.CharField(blank=True, choices=[('paypal', 'PayPal'), ('iban', 'bank transfer'), ('gift', 'gift card by mail'), ('phone', 'gift card by SMS')], default='', max_length=6),
        ),
    ]
