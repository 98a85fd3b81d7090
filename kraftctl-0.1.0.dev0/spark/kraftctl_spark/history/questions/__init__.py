"""The questions about a history: each is one file of Spark SQL, for views, report and users."""
