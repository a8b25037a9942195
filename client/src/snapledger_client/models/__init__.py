"""The service's answers as typed models. They do not import `display`, which renders them."""
