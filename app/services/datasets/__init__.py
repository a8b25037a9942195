"""Datasets: registration, budgets and allowances."""
