"""Engine, sessions and tables. All SQL of the service is here and in `app.ledger`."""
