// What moves chunks and messages between memory, network interface and engine: routes over the buses, a stage after the other. The
// engine's DMAs have ports of the SRAM to themselves.
#pragma once

#include <cstdint>
#include <span>

namespace certree::endpoint {

// The units that a route passes.
enum class Stage : std::uint8_t {
  kMemory,       // read or write of memory
  kMemoryTwice,  // both summands
  kToInterface,  // accelerator to network interface
  kToAccelerator,
  kAdder,     // the accelerator adds
  kOneCycle,  // all that an ideal interface takes
};

namespace routes {

inline constexpr Stage kLoad[] = {Stage::kMemory, Stage::kToInterface};         // TX DMA, engine mode
inline constexpr Stage kWriteBack[] = {Stage::kToAccelerator, Stage::kMemory};  // RX DMA, engine mode
inline constexpr Stage kSend[] = {Stage::kMemory, Stage::kToInterface};         // TX DMA, normal mode
inline constexpr Stage kReceive[] = {Stage::kToAccelerator, Stage::kMemory};    // RX DMA, normal mode
inline constexpr Stage kReceiveAndAdd[] = {Stage::kToAccelerator, Stage::kMemory, Stage::kMemoryTwice, Stage::kAdder,
                                           Stage::kMemory};
inline constexpr Stage kCopy[] = {Stage::kMemory, Stage::kMemory};  // within a node
inline constexpr Stage kAdd[] = {Stage::kMemoryTwice, Stage::kAdder, Stage::kMemory};
inline constexpr Stage kIdealReceive[] = {Stage::kOneCycle};

}  // namespace routes

using Route = std::span<const Stage>;

}  // namespace certree::endpoint
