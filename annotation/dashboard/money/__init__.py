"""What is owed, paid and decided about pay."""
