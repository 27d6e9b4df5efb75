"""Command line: argv and environment become settings, once, here."""
