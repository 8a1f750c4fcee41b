"""The viewer: a local web app for stored runs and ground truth. Page functions return data for templates and JSON."""
