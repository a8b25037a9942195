"""From a request to a plan: questions, columns, curves, the allocation of ε. No data is read here."""
