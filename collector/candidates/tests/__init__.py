"""Tests of candidate sets."""
