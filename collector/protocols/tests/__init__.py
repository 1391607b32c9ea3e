"""Tests of loading protocols, of creating collections and of revising them."""
