"""`kraftctl features`: what kafka-features does, which is to describe and change the levels of features."""
