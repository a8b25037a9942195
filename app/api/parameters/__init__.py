"""What routes take: the caller, and parameters and bodies that a route validates itself, after 401, 404 and 403."""
