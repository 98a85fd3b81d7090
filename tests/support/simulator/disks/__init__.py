"""A simulated disk holds files in memory: it loses what was not forced, takes time and fails."""
