"""The rows of what workers do, and what they are paid."""
