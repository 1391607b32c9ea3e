"""The Django project, and what is read: corpora, seeds, collections and their parameters."""
