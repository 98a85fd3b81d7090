"""The views in Spark SQL on the typed tables alone, as they were: the oracle of those on the history."""
