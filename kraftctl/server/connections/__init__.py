"""A client's connection turns bytes into requests, and limits what it holds."""
