#include "lrnn/io/safetensors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "lrnn/base/error.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/io/json_file.h"

namespace lrnn {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian and read in place");

constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of the reference implementation
constexpr std::string_view kMetadata = "__metadata__";

struct DTypeInfo {
  DType dtype;
  std::string_view name;
  size_t size;
};

// In the order in which a file holds them: the reversed order of the types in the reference implementation.
constexpr std::array<DTypeInfo, 10> kDTypes = {{{DType::I64, "I64", 8},
                                                {DType::F64, "F64", 8},
                                                {DType::F32, "F32", 4},
                                                {DType::I32, "I32", 4},
                                                {DType::BF16, "BF16", 2},
                                                {DType::F16, "F16", 2},
                                                {DType::I16, "I16", 2},
                                                {DType::I8, "I8", 1},
                                                {DType::U8, "U8", 1},
                                                {DType::BOOL, "BOOL", 1}}};

const DTypeInfo& Info(DType dtype) {
  return *std::find_if(kDTypes.begin(), kDTypes.end(), [&](const DTypeInfo& info) { return info.dtype == dtype; });
}

std::string KnownDTypes() {
  std::string names;
  for (const DTypeInfo& info : kDTypes) names += fmt::format("{}{}", names.empty() ? "" : ", ", info.name);
  return names;
}

// The bytes of a tensor; nothing when a dimension is negative or the product is too large for the address space.
std::optional<size_t> ByteCount(std::span<const int64_t> shape, DType dtype) {
  size_t bytes = ItemSize(dtype);
  // An empty tensor is empty however large its other dimensions are.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) bytes = 0;
  for (int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(bytes, static_cast<size_t>(size), &bytes)) return std::nullopt;
  }
  return bytes;
}

std::string Show(const json& value) {
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

std::string NotFound(const std::filesystem::path& path, std::string_view name) {
  return fmt::format("{}: tensor \"{}\" is missing", path.string(), name);
}

// The file in memory, unmapped with the last owner.
std::shared_ptr<const std::byte> Map(const std::filesystem::path& path, size_t& size) {
  const auto reason = [] { return std::generic_category().message(errno); };
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  LRNN_CHECK(file >= 0, "{}: cannot open: {}", path.string(), reason());
  struct stat status;
  void* data = MAP_FAILED;
  const bool is_file = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  size = is_file ? static_cast<size_t>(status.st_size) : 0;
  if (size >= 8) data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  const std::string failure = reason();
  close(file);
  LRNN_CHECK(is_file, "{}: expected a safetensors file, got something that is not a regular file", path.string());
  LRNN_CHECK(size >= 8, "{}: expected a safetensors file of at least 8 bytes, got {}", path.string(), size);
  if (data == MAP_FAILED) throw Failure(fmt::format("{}: cannot map into memory: {}", path.string(), failure));
  return {static_cast<const std::byte*>(data), [size](const std::byte* p) { munmap(const_cast<std::byte*>(p), size); }};
}

// Reads the entry of one tensor; all messages start with the file and the tensor.
class EntryReader {
 public:
  EntryReader(const std::string& file, const std::string& tensor, const json& entry)
      : place_(fmt::format("{}: tensor \"{}\"", file, tensor)), entry_(entry) {
    LRNN_CHECK(entry.is_object(), "{}: expected an object, got {}", place_, Show(entry));
  }

  TensorView Read(const std::byte* buffer, uint64_t buffer_size) const {
    TensorView view;
    view.dtype = ReadDType();
    view.shape = ReadShape();
    const auto [begin, end] = ReadOffsets();
    LRNN_CHECK(begin <= end && end <= buffer_size,
               "{}: data_offsets: expected begin <= end <= {} (the size of the buffer), got [{}, {}]", place_,
               buffer_size, begin, end);
    const std::optional<size_t> bytes = ByteCount(view.shape, view.dtype);
    LRNN_CHECK(bytes.has_value(), "{}: shape: expected a size that fits into memory, got {}", place_,
               ShapeString(view.shape));
    LRNN_CHECK(end - begin == *bytes, "{}: data_offsets: expected {} bytes for {} {}, got {} in [{}, {}]", place_,
               *bytes, Name(view.dtype), ShapeString(view.shape), end - begin, begin, end);
    view.data = buffer + begin;
    view.bytes = *bytes;
    return view;
  }

 private:
  const json& Field(const char* name) const {
    const auto field = entry_.find(name);
    LRNN_CHECK(field != entry_.end(), "{}: field \"{}\" is missing", place_, name);
    return *field;
  }

  DType ReadDType() const {
    const json& field = Field("dtype");
    LRNN_CHECK(field.is_string(), "{}: dtype: expected a string, got {}", place_, Show(field));
    const auto& name = field.get_ref<const std::string&>();
    const auto info =
        std::find_if(kDTypes.begin(), kDTypes.end(), [&](const auto& known) { return known.name == name; });
    LRNN_CHECK(info != kDTypes.end(), "{}: dtype: expected one of {}, got {}", place_, KnownDTypes(), Show(field));
    return info->dtype;
  }

  std::vector<int64_t> ReadShape() const {
    const json& field = Field("shape");
    LRNN_CHECK(field.is_array(), "{}: shape: expected a list of integers, got {}", place_, Show(field));
    std::vector<int64_t> shape;
    for (const json& size : field) {
      LRNN_CHECK(size.is_number_unsigned() && size.get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()},
                 "{}: shape: expected integers >= 0, got {}", place_, Show(size));
      shape.push_back(size.get<int64_t>());
    }
    return shape;
  }

  std::pair<uint64_t, uint64_t> ReadOffsets() const {
    const json& field = Field("data_offsets");
    LRNN_CHECK(field.is_array() && field.size() == 2 && field[0].is_number_unsigned() && field[1].is_number_unsigned(),
               "{}: data_offsets: expected two integers >= 0, got {}", place_, Show(field));
    return {field[0].get<uint64_t>(), field[1].get<uint64_t>()};
  }

  std::string place_;
  const json& entry_;
};

StringMap ReadMetadata(const std::string& file, const json& metadata) {
  LRNN_CHECK(metadata.is_object(), "{}: {}: expected an object, got {}", file, kMetadata, Show(metadata));
  StringMap result;
  for (const auto& [key, value] : metadata.items()) {
    LRNN_CHECK(value.is_string(), "{}: {}: field \"{}\": expected a string, got {}", file, kMetadata, key, Show(value));
    result.emplace(key, value.get<std::string>());
  }
  return result;
}

// The tensors must follow one another from the first to the last byte of the buffer.
void CheckCoverage(const std::string& file, const TensorMap& tensors, const std::byte* buffer, uint64_t buffer_size) {
  std::vector<const TensorMap::value_type*> sorted;
  for (const auto& tensor : tensors) sorted.push_back(&tensor);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return std::pair(a->second.data, a->second.bytes) < std::pair(b->second.data, b->second.bytes);
  });
  uint64_t covered = 0;
  for (const auto* tensor : sorted) {
    const uint64_t begin = tensor->second.data - buffer;
    LRNN_CHECK(begin == covered,
               "{}: tensor \"{}\": data_offsets: expected to begin at byte {} where the one before ends, got {} ({})",
               file, tensor->first, covered, begin, begin < covered ? "they overlap" : "a hole");
    covered = begin + tensor->second.bytes;
  }
  LRNN_CHECK(covered == buffer_size, "{}: expected the tensors to fill the buffer of {} bytes, got {} bytes", file,
             buffer_size, covered);
}

float HalfToFloat(uint16_t half) {
  const uint32_t sign = uint32_t{half & 0x8000u} << 16;
  const uint32_t exponent = (half >> 10) & 0x1F;
  const uint32_t mantissa = half & 0x3FF;
  if (exponent == 0) {  // zero or subnormal: mantissa * 2^-24 is exact
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  const uint32_t wide_exponent = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide_exponent << 23 | mantissa << 13);
}

template <typename Stored, typename Convert>
std::vector<float> Convert1(const TensorView& view, const Convert& convert) {
  std::vector<float> values(view.bytes / sizeof(Stored));
  for (size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, view.data + i * sizeof(Stored), sizeof(Stored));
    values[i] = convert(stored);
  }
  return values;
}

}  // namespace

size_t ItemSize(DType dtype) { return Info(dtype).size; }

std::string_view Name(DType dtype) { return Info(dtype).name; }

std::string ShapeString(std::span<const int64_t> shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

TensorView FloatView(std::vector<int64_t> shape, std::span<const float> values) {
  LRNN_CHECK(ByteCount(shape, DType::F32) == values.size_bytes(),
             "[FloatView] expected as many values as {} has, got {}", ShapeString(shape), values.size());
  return {DType::F32, std::move(shape), reinterpret_cast<const std::byte*>(values.data()), values.size_bytes()};
}

std::vector<float> ToFloats(const TensorView& view) {
  switch (view.dtype) {
    case DType::F32:
      return Convert1<float>(view, [](float x) { return x; });
    case DType::F64:
      return Convert1<double>(view, [](double x) { return static_cast<float>(x); });
    case DType::BF16:
      return Convert1<uint16_t>(view, [](uint16_t x) { return std::bit_cast<float>(uint32_t{x} << 16); });
    case DType::F16:
      return Convert1<uint16_t>(view, HalfToFloat);
    default:
      Fail("[ToFloats] expected a tensor of type F64, F32, F16 or BF16, got {}", Name(view.dtype));
  }
}

SafetensorsFile SafetensorsFile::Open(const std::filesystem::path& path) {
  SafetensorsFile file;
  const std::string name = path.string();
  size_t size = 0;
  file.path_ = path;
  file.mapping_ = Map(path, size);
  const std::byte* data = file.mapping_.get();

  uint64_t header_size;
  std::memcpy(&header_size, data, 8);
  LRNN_CHECK(header_size <= kMaxHeaderBytes, "{}: expected a header of at most {} bytes, got a header length of {}",
             name, kMaxHeaderBytes, header_size);
  LRNN_CHECK(header_size <= size - 8, "{}: expected a header of {} bytes, got a file of {} bytes (cut off?)", name,
             header_size, size);
  const json header = ParseJson({reinterpret_cast<const char*>(data) + 8, header_size}, name + ": header");
  LRNN_CHECK(header.is_object(), "{}: header: expected a JSON object, got {}", name, Show(header));

  const std::byte* buffer = data + 8 + header_size;
  const uint64_t buffer_size = size - 8 - header_size;
  for (const auto& [key, value] : header.items()) {
    if (key == kMetadata) {
      file.metadata_ = ReadMetadata(name, value);
    } else {
      file.tensors_.emplace(key, EntryReader(name, key, value).Read(buffer, buffer_size));
    }
  }
  CheckCoverage(name, file.tensors_, buffer, buffer_size);
  return file;
}

const TensorView* SafetensorsFile::Find(std::string_view name) const {
  const auto tensor = tensors_.find(name);
  return tensor == tensors_.end() ? nullptr : &tensor->second;
}

const TensorView& SafetensorsFile::Get(std::string_view name) const {
  const TensorView* tensor = Find(name);
  if (tensor == nullptr) throw Error(NotFound(path_, name));
  return *tensor;
}

void WriteSafetensors(const std::filesystem::path& path, const TensorMap& tensors, const StringMap& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[kMetadata] = metadata;

  std::vector<const TensorView*> order;
  size_t offset = 0;
  for (const DTypeInfo& info : kDTypes) {
    for (const auto& [name, tensor] : tensors) {
      if (tensor.dtype != info.dtype) continue;
      LRNN_CHECK(name != kMetadata, "[WriteSafetensors] expected tensor names other than \"{}\"", kMetadata);
      LRNN_CHECK(ByteCount(tensor.shape, tensor.dtype) == tensor.bytes,
                 "[WriteSafetensors] expected the bytes of {} {} for tensor \"{}\", got {}", info.name,
                 ShapeString(tensor.shape), name, tensor.bytes);
      header[name] = {{"dtype", info.name}, {"shape", tensor.shape}, {"data_offsets", {offset, offset + tensor.bytes}}};
      offset += tensor.bytes;
      order.push_back(&tensor);
    }
  }

  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception& error) {
    Fail("[WriteSafetensors] expected names and metadata in UTF-8, got {}", error.what());
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  LRNN_CHECK(text.size() <= kMaxHeaderBytes, "[WriteSafetensors] expected a header of at most {} bytes, got {}",
             kMaxHeaderBytes, text.size());
  const uint64_t header_size = text.size();

  AtomicFile file(path);
  file.Write({reinterpret_cast<const char*>(&header_size), 8});
  file.Write(text);
  for (const TensorView* tensor : order) file.Write({reinterpret_cast<const char*>(tensor->data), tensor->bytes});
  file.Commit();
}

}  // namespace lrnn
