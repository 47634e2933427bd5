// The driver's part of the emulator as one translation unit, which compiles in a third of the
// time of its files one by one: every mock driver of every test is built with it.
#include "blocks.cpp"
#include "clock.cpp"
#include "cluster.cpp"
#include "copies.cpp"
#include "fibers.cpp"
#include "flights.cpp"
#include "mbarrier.cpp"
#include "meet.cpp"
#include "memory.cpp"
#include "schedule.cpp"
#include "tensor.cpp"
#include "wgmma.cpp"
