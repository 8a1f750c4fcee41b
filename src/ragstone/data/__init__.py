"""The central types and the Arrow schemas of every table."""
