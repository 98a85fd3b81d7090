"""Computes versions of brokers, topics and other things record by record."""
