"""A disk that remembers what real processes forced to it, and forgets the rest when the power fails."""
