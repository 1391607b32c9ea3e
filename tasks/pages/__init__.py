"""The external HIT page: entry, consent, work, drafts, submission."""
