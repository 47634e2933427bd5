void uncompilable(void) { this is not C; }
