"""A handler gets a moment and a context, and returns records and a response, which are checked here."""
