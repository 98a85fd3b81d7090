"""The error of keystores and truststores, in a module that needs no library to be imported."""


class StoreError(Exception):
    """Keys or certificates that cannot be used; the text names file and key, and never a secret."""
