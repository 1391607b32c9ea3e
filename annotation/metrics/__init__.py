"""The official scorers, said again: pure functions with equal results to the last bit."""
