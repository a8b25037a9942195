"""Turns requests into plans: questions, columns, curves, the allocation of ε. Planning never reads data."""
