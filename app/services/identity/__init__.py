"""Principals, their keys, and the tokens of an OpenID provider."""
