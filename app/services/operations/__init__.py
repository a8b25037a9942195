"""What operators do and what runs by itself: startup, backup, relocation, verification, metrics."""
