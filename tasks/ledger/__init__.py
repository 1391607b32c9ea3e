"""What is owed, held and spent: rows alone, no provider is called."""
