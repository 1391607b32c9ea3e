"""One command per file; `--help` shows an example of each."""
