"""Reads a metadata log, from a quorum or from a controller's directory."""
