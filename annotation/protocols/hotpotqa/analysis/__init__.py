"""The paper's tables and figures, each counted while the examples pass once."""
