"""Tests of what both halves share."""
