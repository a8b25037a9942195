"""The mathematics of a release: pure functions of public facts, exact sums and random bits.

This package imports no other package of the application, reads no environment variables and keeps no state but caches.
Docstrings call Covington's "Snapping Mechanism Notes" (2020) "the notes".
"""
