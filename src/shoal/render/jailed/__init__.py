"""Pods of a cluster with a shared root: the same parts, by the same names of modules.

Pure. What they are called, and which images run in them, is in the model; paths, variables and
ports are what these images go by.
"""
