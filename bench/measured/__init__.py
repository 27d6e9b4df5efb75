"""What the benchmark of the runtime is made of: the load, and the process that is measured."""
