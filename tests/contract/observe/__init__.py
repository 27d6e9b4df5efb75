"""What is shipped for Prometheus, before a real Prometheus and a real Alertmanager."""
