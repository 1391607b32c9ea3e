"""The vocabulary of reports: tables as plain data, those of labels, and how they are drawn."""
