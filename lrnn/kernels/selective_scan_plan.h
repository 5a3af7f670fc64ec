// How the selective scan divides its work: groups of whole sequences times tiles of channels.
//
// The division depends on the shape alone, never on the number of threads, so that sums over groups (dA, dD,
// ddelta_bias) and over tiles (dB, dC) are always taken in the same order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lrnn/kernels/selective_scan.h"

namespace lrnn::kernels {

// Channels per group of block_states, and the most lanes a vector may have: [saved state][D / 16][N][16].
inline constexpr int64_t kSelectiveScanLanes = 16;

inline int64_t SelectiveScanSavedStates(int64_t length) { return length > 0 ? (length - 1) / kSelectiveScanBlock : 0; }

struct SelectiveScanGroup {
  int64_t first_sequence = 0;
  int64_t end_sequence = 0;
  int64_t first_saved_state = 0;  // the states that the group's sequences save
  int64_t end_saved_state = 0;
};

struct SelectiveScanPlan {
  std::vector<SelectiveScanGroup> groups;
  int64_t tile = 0;   // channels per tile, a multiple of kSelectiveScanLanes
  int64_t tiles = 0;  // ceil(D / tile)

  SelectiveScanPlan(int64_t channels, int64_t sequences, const int32_t* cu_seqlens) {
    // Enough groups to feed many cores, but each long enough to repay loading A and adding up its share of dA.
    const int64_t group_tokens = std::clamp<int64_t>(cu_seqlens[sequences] / 32, 256, 4096);
    SelectiveScanGroup group;
    int64_t saved_states = 0;
    for (int64_t s = 0; s < sequences; ++s) {
      saved_states += SelectiveScanSavedStates(cu_seqlens[s + 1] - cu_seqlens[s]);
      if (s + 1 == sequences || cu_seqlens[s + 1] - cu_seqlens[group.first_sequence] >= group_tokens) {
        group.end_sequence = s + 1;
        group.end_saved_state = saved_states;
        groups.push_back(group);
        group = {s + 1, s + 1, saved_states, saved_states};
      }
    }
    // A wide tile reads longer pieces of each row and writes fewer partial sums of dB and dC; few groups need more
    // tiles.
    tile = 256;
    while (tile > 64 && static_cast<int64_t>(groups.size()) * ((channels + tile - 1) / tile) < 6) tile /= 2;
    tiles = (channels + tile - 1) / tile;
  }
};

}  // namespace lrnn::kernels
