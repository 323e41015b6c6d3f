"""How the embedded models are made: data, training, calibration, measuring. Not part of the wheel."""
