"""Renders plans and releases as JSON and as sentences."""
