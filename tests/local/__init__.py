"""Real Kubernetes on this machine, called as its users call it."""
