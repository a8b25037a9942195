"""The demonstration: the main job on real data."""
