"""`kraftctl inspect`: tables of what a controller serves and obeys, made of what the code has."""
