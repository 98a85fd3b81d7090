"""Feature levels are finalized here: by UpdateFeatures, at activation, and in the bootstrap records."""
