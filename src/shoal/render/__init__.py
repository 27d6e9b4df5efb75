"""Back end: the model to Kubernetes objects and Slurm's files.

Pure. Each renderer is a function of the model alone and makes one object; each module's `objects`
lists what one part of a cluster consists of. The same model gives the same bytes.
"""
