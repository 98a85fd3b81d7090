"""TLS for listeners and clients: stores of keys and certificates, SSL contexts, names of certificates."""
