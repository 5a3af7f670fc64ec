// Where the parts of a model stand in a checkpoint: the field's ways of naming the blocks around a mixer.
//
//   fla      model.embeddings     model.layers.0.attn_norm  .attn.*  .mlp_norm  .mlp.*   model.norm       lm_head
//   mamba    backbone.embeddings  backbone.layers.0.norm    .mixer.*                     backbone.norm_f  lm_head
//   xlstm    R.embeddings         R.layers.0.xlstm_norm     .xlstm.*                     R.post_blocks_norm  lm_head
//            with R = xlstm_block_stack; an sLSTM layer has .ffn_norm and .ffn.* too, in the place of the MLP
//   simple   model.embeddings     model.layers.0.norm       .mixer.*                     model.norm       lm_head
//   hybrid   model.embeddings     model.layers.0 as in the layer's own model            model.norm       lm_head
//
//   h = x + mixer(norm(x)),   and with an MLP   h + mlp(mlp_norm(h));   in `simple` h = mixer(norm(x))
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lrnn {

struct Skeleton {
  std::string root;        // of embeddings, layers and final norm
  std::string mixer_norm;  // names inside a layer
  std::string mixer;
  bool has_mlp;  // with `mlp_norm` and `mlp` inside a layer
  std::string final_norm;
  std::string norm_eps_key;     // of config.json
  double norm_eps;              // its default
  bool has_residual = true;     // x +
  bool small_init = false;      // embedding and head start as N(0, sqrt(2 / (5 hidden_size)))
  bool has_gated_gelu = false;  // instead of the MLP, with `ffn_norm` and `ffn` inside a layer
};

// The skeleton of a model_type; an Error lists the known ones.
const Skeleton& SkeletonOf(std::string_view model_type);

// The width of the MLP when config.json does not give it: 2/3 hidden_ratio hidden_size, rounded up to a multiple of
// 256.
int64_t DefaultIntermediateSize(int64_t hidden_size, int64_t hidden_ratio);

}  // namespace lrnn
