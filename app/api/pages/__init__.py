"""Pages for browsers: the dashboard, the guide and their static files."""
