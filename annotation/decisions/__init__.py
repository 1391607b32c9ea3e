"""Verdicts on questions: from votes, overridden by hand, without the work of the excluded."""
