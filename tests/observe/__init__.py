"""Dashboards, alerts and monitors, as they are shipped."""
