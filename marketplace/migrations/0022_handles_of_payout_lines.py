"""Keeps with a payment on a list where it goes: who changes that meanwhile is paid once."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('marketplace', '0021_assignment_form_key'),
    ]

    operations = [
        migrations.AddField(
            model_name='payoutline',
            name='handle_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='payoutline',
            name='pay_by',
            field=models.CharField(blank=True, choices=[('paypal', 'PayPal'), ('iban', 'bank transfer'), ('gift', 'gift card by mail'), ('phone', 'gift card by SMS')], default='', max_length=6),
        ),
        migrations.AddField(
            model_name='payoutline',
            name='pay_name',
            field=models.CharField(blank=True, default='', max_length=80),
        ),
        migrations.AddField(
            model_name='payoutline',
            name='pay_to',
            field=models.CharField(blank=True, default='', max_length=254),
        ),
    ]
