"""Engine, sessions and tables. All SQL of the service lives here and in `app.ledger`."""
