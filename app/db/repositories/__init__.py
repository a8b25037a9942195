"""The SQL of principals, datasets and relocations."""
