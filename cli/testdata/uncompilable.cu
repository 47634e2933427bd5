extern "C" __global__ void uncompilable(void) { no such thing; }
