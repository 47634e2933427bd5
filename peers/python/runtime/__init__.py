"""Compiling, capturing, checking and timing: the same for every operation."""
