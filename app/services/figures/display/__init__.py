"""What people see of figures: pages, charts, pictures, the feed, and how the texts in them are made."""
