"""Exact and directed-rounding arithmetic, and random bits."""
