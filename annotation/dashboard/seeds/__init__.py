"""Seeds and the candidate sets that pairs are drawn from."""
