// Nothing to add: cuda.h is included before every source.
