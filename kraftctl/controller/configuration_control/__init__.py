"""Dynamic configurations and client quotas are altered, described and validated here."""
