"""Audits of the mechanism's implementation: its claims are checked exactly against the code that runs in production.

`audit` and its parts find the distribution of the production draw by bisection over its random bits. `draft` completes
Liu's "Verifying Snapping Mechanism" (2020). Of the application it imports only `app.dp`, and the service never imports
it.
"""
