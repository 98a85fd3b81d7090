"""Requests and answers as bytes: clients, generators of requests, and what is hostile in them."""
