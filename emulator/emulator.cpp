// The driver's part of the emulator as one translation unit, which compiles in a third of the
// time of its files one by one.
#include "schedule/blocks.cpp"
#include "schedule/clock.cpp"
#include "device/cluster.cpp"
#include "device/copies.cpp"
#include "schedule/fibers.cpp"
#include "device/lines.cpp"
#include "device/mbarrier.cpp"
#include "schedule/meet.cpp"
#include "device/memory.cpp"
#include "schedule/schedule.cpp"
#include "device/tensor.cpp"
#include "device/wgmma.cpp"
