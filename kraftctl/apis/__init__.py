"""The APIs that this controller serves, one row each: everything decided from the header of a request."""
