"""What workers do, and what they are paid."""
