"""Tests of the widgets: what a page may send, and what it never may."""
