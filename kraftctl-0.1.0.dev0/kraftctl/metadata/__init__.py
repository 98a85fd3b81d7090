"""Domain values of the metadata log: brokers, controllers, partitions, features."""
