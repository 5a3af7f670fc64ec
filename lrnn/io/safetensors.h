// The safetensors format: named tensors in one file, read through a memory map without copying.
//
//   8 bytes     n, the length of the header, little-endian
//   n bytes     JSON: {"__metadata__": {string: string},
//                      name: {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ...}
//   the rest    the buffer; a tensor is its bytes begin .. end-1, row-major, little-endian
//
// The tensors cover the buffer without overlap and without holes. Source: github.com/huggingface/safetensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lrnn {

enum class DType { F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL };

size_t ItemSize(DType dtype);
std::string_view Name(DType dtype);  // "F32"

// A tensor somewhere else in memory. The data of a file is aligned to the item size only if its writer cared (ours
// does): copy it (ToFloats, memcpy) rather than casting the pointer.
struct TensorView {
  DType dtype;
  std::vector<int64_t> shape;  // [] is a scalar
  const std::byte* data;
  size_t bytes;
};

using TensorMap = std::map<std::string, TensorView, std::less<>>;
using StringMap = std::map<std::string, std::string, std::less<>>;

// A view of floats; `values` must have as many as the shape says.
TensorView FloatView(std::vector<int64_t> shape, std::span<const float> values);

// The values of a F64, F32, F16 or BF16 tensor as floats.
std::vector<float> ToFloats(const TensorView& view);

// "[2, 3]", as in messages.
std::string ShapeString(std::span<const int64_t> shape);

// An open file. Its views stay valid as long as this object (or what it is moved into) lives.
class SafetensorsFile {
 public:
  // Checks the whole header against the rules above before anything is used.
  static SafetensorsFile Open(const std::filesystem::path& path);

  const TensorView* Find(std::string_view name) const;  // nullptr when there is none
  const TensorView& Get(std::string_view name) const;   // an Error names the file and the tensor when there is none

  const std::filesystem::path& path() const { return path_; }
  const TensorMap& tensors() const { return tensors_; }
  const StringMap& metadata() const { return metadata_; }

 private:
  SafetensorsFile() = default;

  std::filesystem::path path_;
  std::shared_ptr<const std::byte> mapping_;
  TensorMap tensors_;
  StringMap metadata_;
};

// Replaces the file atomically. The bytes depend on the arguments alone: tensors are laid out as Hugging Face's own
// writer does, by type and then by name, wide types first, so that each is aligned to its item size.
void WriteSafetensors(const std::filesystem::path& path, const TensorMap& tensors, const StringMap& metadata = {});

}  // namespace lrnn
