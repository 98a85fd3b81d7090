"""What the issuer of OAUTHBEARER tokens is asked for, over https, on threads: its keys, and tokens."""
