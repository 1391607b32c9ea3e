"""The pages workers see, one module per noun."""
