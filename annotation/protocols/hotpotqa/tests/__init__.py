"""Tests of the parts that need no page: files, figures, rules."""
