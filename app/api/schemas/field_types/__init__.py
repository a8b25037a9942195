"""Types of fields that several schemas share: numbers, times, roles and filters, and what JSON Schema says of them."""
