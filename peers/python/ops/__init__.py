"""What peers compute, an operation a file."""
