"""Tests of reading books."""
