"""Front ends: each reads one API into the model and reports back in its words. Pure."""
