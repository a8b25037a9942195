"""Operators' tasks and background work: startup, backup, relocation, verification and metrics."""
