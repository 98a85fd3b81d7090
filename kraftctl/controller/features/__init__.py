"""Finalizes feature levels: by UpdateFeatures, at activation, and in the bootstrap records."""
