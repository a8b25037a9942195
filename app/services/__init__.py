"""One function a use case; each owns its transaction and commits it itself."""
