"""Stand-ins for what tests cannot or need not have; contract tests hold them to the real thing."""
