"""Tests of the hyperlink graph."""
