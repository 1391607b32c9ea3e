"""Tests of the private log and of doing its work again."""
