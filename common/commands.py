"""How a command is named wherever one is printed: on pages, by commands, in the README."""

# From the folder in which `make` has installed everything.
MANAGE = ".venv/bin/python manage.py"
