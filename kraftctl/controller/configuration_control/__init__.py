"""Dynamic configurations: altering, describing and validating them, and the values in effect."""
