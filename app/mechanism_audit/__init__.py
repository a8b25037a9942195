"""Audits of the mechanism's implementation: what it claims, computed exactly from the code that runs.

`audit` and its parts find the distribution of the production draw by bisection over its random bits; `draft` completes
Liu's "Verifying Snapping Mechanism" (2020). Nothing but `app.dp` is imported, and nothing here runs in the service.
"""
