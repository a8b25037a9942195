"""The snapping mechanism: parameters, draw, accuracy, planning and bias."""
