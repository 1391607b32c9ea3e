"""How hard a question is: who asks what one paragraph answers, and what a reader answers."""
