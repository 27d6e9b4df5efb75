"""Kubernetes' language. Pure."""
