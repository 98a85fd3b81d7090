"""`kraftctl storage`: kafka-storage, for the directories of a controller, and tables of levels."""
