"""Tests of the protocol's pure parts."""
