// Returns the status that it is given.
int refuse(int status) { return status; }
