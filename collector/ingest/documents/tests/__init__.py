"""Tests of reading documents in."""
