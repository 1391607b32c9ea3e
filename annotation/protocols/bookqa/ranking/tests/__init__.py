"""Tests of the rankers."""
