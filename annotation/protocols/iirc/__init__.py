"""Incomplete information: questions by those who see what is missing, answers by others."""
