"""Tests of how seeds are found and chosen."""
