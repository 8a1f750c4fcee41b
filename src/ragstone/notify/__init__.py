"""Telling others about a run: a web-hook, OpenTelemetry, MLflow. None of them can fail the run."""
