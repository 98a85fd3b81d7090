"""The APIs that this controller serves, one row each: everything that is decided from a request's header."""
