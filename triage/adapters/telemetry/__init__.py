"""Spans and metrics of finished runs, by OpenTelemetry."""
