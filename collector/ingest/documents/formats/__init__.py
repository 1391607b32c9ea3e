"""What documents can be read from, a format a class: the catalogue finds them here."""
