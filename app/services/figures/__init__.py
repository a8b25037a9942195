"""Figures: publishes released answers under names, and shows them to those who may only read."""
