"""The mathematics of a release: pure functions of public facts, exact sums and random bits.

Nothing here imports anything else of the application, reads the environment or keeps state.
"""
