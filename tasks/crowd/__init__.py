"""The providers that bring workers: a marketplace over boto3."""
