"""What `run` and `serve` start, and how it is kept running and told to be well."""
