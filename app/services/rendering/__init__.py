"""Answers as JSON and as sentences, from facts."""
