"""A person's decision against what the votes say."""
