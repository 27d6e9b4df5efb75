"""The machine we are on: run a program, write files, look at processes."""
