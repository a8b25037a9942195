"""Snapledger: a REST service for differentially private statistics with a privacy budget ledger."""
