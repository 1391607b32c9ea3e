"""What a released question is: plain records, their tables, and how official files are read."""
