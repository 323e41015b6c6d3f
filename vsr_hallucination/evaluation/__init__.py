"""Measuring detectors and models, abstention included."""
