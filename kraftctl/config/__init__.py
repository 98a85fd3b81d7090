"""The properties of a controller, parsed and checked: no file is read here."""
