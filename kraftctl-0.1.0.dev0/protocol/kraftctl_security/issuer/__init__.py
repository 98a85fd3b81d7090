"""Asks the issuer of OAUTHBEARER tokens for its keys and for tokens, over https, on threads."""
