"""Tests of the marketplace."""
