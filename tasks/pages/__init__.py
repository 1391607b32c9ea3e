"""The external HIT page: preview, consent, work, drafts, submission."""
