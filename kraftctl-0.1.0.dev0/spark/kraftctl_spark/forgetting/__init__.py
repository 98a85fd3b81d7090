"""Replaces a name in an output by a pseudonym, and shows by a search that it is nowhere any more.

`wanted_name` says what the name is in each kind of text, `without_name` replaces it in a batch, `search`
looks for it, and `forget` does all of it in one commit.
"""
