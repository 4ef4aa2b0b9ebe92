"""Door: spans and metrics of finished runs, by OpenTelemetry."""
