"""All handlers share this state: the image, the configuration, and the soft state of an active controller."""
