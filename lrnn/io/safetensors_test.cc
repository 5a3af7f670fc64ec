#include "lrnn/io/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "lrnn/base/message_of.h"
#include "lrnn/base/rng.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/io/test_directory.h"

namespace lrnn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

template <typename T>
TensorView View(DType dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  return {dtype, std::move(shape), reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(T)};
}

std::string Bytes(const TensorView& view) { return {reinterpret_cast<const char*>(view.data), view.bytes}; }

// A file of the given header and buffer.
std::string FileOf(const std::string& header, const std::string& buffer) {
  const uint64_t size = header.size();
  return std::string(reinterpret_cast<const char*>(&size), 8) + header + buffer;
}

class SafetensorsTest : public testing::Test {
 protected:
  std::string OpenMessage(const std::string& bytes) {
    WriteFileAtomically(path_, bytes);
    return MessageOf([&] { SafetensorsFile::Open(path_); });
  }

  TestDirectory directory_;
  std::filesystem::path path_ = directory_ / "m.safetensors";
};

TEST_F(SafetensorsTest, RoundTripOfEachType) {
  const std::vector<double> f64{1.5, -2.25};
  const std::vector<float> f32{1, 2, 3, 4, 5, 6};
  const std::vector<uint16_t> half{0x3C00, 0xC000, 0x7BFF};
  const std::vector<int64_t> i64{-1, std::numeric_limits<int64_t>::max()};
  const std::vector<int32_t> i32{-7};
  const std::vector<int16_t> i16{1, -2, 3};
  const std::vector<int8_t> i8{-1, 2, 3};
  const std::vector<uint8_t> u8{255, 0, 1, 0, 1};
  const TensorMap tensors{{"f64", View(DType::F64, {2}, f64)},
                          {"f32", View(DType::F32, {2, 3}, f32)},
                          {"f16", View(DType::F16, {3}, half)},
                          {"bf16", View(DType::BF16, {1, 3, 1}, half)},
                          {"i64", View(DType::I64, {2}, i64)},
                          {"scalar", View(DType::I32, {}, i32)},
                          {"i16", View(DType::I16, {3}, i16)},
                          {"i8", View(DType::I8, {3}, i8)},
                          {"u8", View(DType::U8, {5}, u8)},
                          {"bool", View(DType::BOOL, {5}, u8)},
                          {"empty", View<float>(DType::F32, {0, 1'000'000'000, 1'000'000'000, 9}, {})}};
  const StringMap metadata{{"format", "pt"}, {"note", "ä\n\"x\""}};
  WriteSafetensors(path_, tensors, metadata);

  SafetensorsFile opened = SafetensorsFile::Open(path_);
  const SafetensorsFile file = std::move(opened);
  EXPECT_EQ(file.metadata(), metadata);
  ASSERT_EQ(file.tensors().size(), tensors.size());
  for (const auto& [name, written] : tensors) {
    const TensorView& read = file.Get(name);
    EXPECT_EQ(read.dtype, written.dtype) << name;
    EXPECT_EQ(read.shape, written.shape) << name;
    EXPECT_EQ(Bytes(read), Bytes(written)) << name;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(read.data) % ItemSize(read.dtype), 0) << name;
  }
  EXPECT_EQ(file.Find("nowhere"), nullptr);
  EXPECT_EQ(MessageOf([&] { file.Get("nowhere"); }), path_.string() + ": tensor \"nowhere\" is missing");
}

TEST_F(SafetensorsTest, GoldenBytes) {
  const std::vector<float> f32{1, -2};
  const std::vector<int64_t> i64{3};
  const std::vector<uint8_t> u8{9};
  WriteSafetensors(
      path_, {{"b", View(DType::F32, {2}, f32)}, {"aa", View(DType::U8, {1}, u8)}, {"c", View(DType::I64, {}, i64)}},
      {{"format", "pt"}});
  std::string header = R"({"__metadata__":{"format":"pt"},)"
                       R"("c":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
                       R"("b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},)"
                       R"("aa":{"dtype":"U8","shape":[1],"data_offsets":[16,17]}})"
                       "       ";
  ASSERT_EQ(header.size(), 200);
  const std::string buffer(
      "\x03\0\0\0\0\0\0\0"
      "\0\0\x80\x3f"
      "\0\0\0\xc0"
      "\x09",
      17);
  EXPECT_EQ(ReadFile(path_), std::string("\xc8\0\0\0\0\0\0\0", 8) + header + buffer);

  WriteSafetensors(path_, {});
  EXPECT_EQ(ReadFile(path_), std::string("\x08\0\0\0\0\0\0\0{}      ", 16));
  EXPECT_TRUE(SafetensorsFile::Open(path_).tensors().empty());
}

TEST_F(SafetensorsTest, ReadsFilesOfOtherWriters) {
  // Unaligned, tensors not in order, empty tensor between two others.
  const std::string header =
      R"({"b":{"dtype":"F32","shape":[1],"data_offsets":[1,5]},"e":{"dtype":"I64","shape":[0],"data_offsets":[1,1]},)"
      R"("a":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}}  )";
  WriteFileAtomically(path_, FileOf(header, std::string("\x01\0\0\x80\x3f", 5)));
  const SafetensorsFile file = SafetensorsFile::Open(path_);
  EXPECT_THAT(ToFloats(file.Get("b")), ElementsAre(1.0f));
  EXPECT_EQ(file.Get("e").bytes, 0);
}

TEST_F(SafetensorsTest, WriterRefusesWhatIsNotATensor) {
  const std::vector<float> two{1, 2};
  EXPECT_EQ(MessageOf([&] {
              WriteSafetensors(path_, {{"a", View(DType::F32, {3}, two)}});
            }),
            "[WriteSafetensors] expected the bytes of F32 [3] for tensor \"a\", got 8");
  EXPECT_EQ(MessageOf([&] {
              WriteSafetensors(path_, {{"a", View(DType::F32, {-2}, two)}});
            }),
            "[WriteSafetensors] expected the bytes of F32 [-2] for tensor \"a\", got 8");
  EXPECT_EQ(MessageOf([&] {
              WriteSafetensors(path_, {{"__metadata__", View(DType::F32, {2}, two)}});
            }),
            "[WriteSafetensors] expected tensor names other than \"__metadata__\"");
  EXPECT_THAT(MessageOf([&] {
                WriteSafetensors(path_, {{"\xff", View(DType::F32, {2}, two)}});
              }),
              StartsWith("[WriteSafetensors] expected names and metadata in UTF-8, got "));
  EXPECT_EQ(MessageOf([&] { FloatView({3}, two); }), "[FloatView] expected as many values as [3] has, got 2");
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(SafetensorsTest, CorruptFilesAreRefusedWithTheReason) {
  const std::string known = "I64, F64, F32, I32, BF16, F16, I16, I8, U8, BOOL";
  const std::string eight(8, 'x');
  struct Case {
    std::string bytes;
    std::string message;  // behind "<path>: "
  };
  // The header of one tensor "a" with the given entry, and a buffer of 8 bytes.
  const auto entry = [&](const std::string& fields) { return FileOf("{\"a\":" + fields + "}", eight); };
  const std::vector<Case> cases = {
      {"", "expected a safetensors file of at least 8 bytes, got 0"},
      {"1234567", "expected a safetensors file of at least 8 bytes, got 7"},
      {std::string("\x09\0\0\0\0\0\0\0{}      ", 16),
       "expected a header of 9 bytes, got a file of 16 bytes (cut off?)"},
      {std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10),
       "expected a header of at most 100000000 bytes, got a header length of 18446744073709551615"},
      {std::string("\x01\xe1\xf5\x05\0\0\0\0", 8),
       "expected a header of at most 100000000 bytes, got a header length of 100000001"},
      {FileOf("", ""), "header:1:1: invalid JSON: "},
      {FileOf("{\"a\":", ""), "header:1:6: invalid JSON: "},
      {FileOf("{} x", ""), "header:1:4: invalid JSON: "},
      {FileOf(std::string("{}\0", 3), ""), "header:1:3: invalid JSON: "},
      {FileOf("[1]", ""), "header: expected a JSON object, got [1]"},
      {FileOf(R"({"a":{},"a":{}})", ""), "header: invalid JSON: the key \"a\" occurs twice"},
      {FileOf(R"({"a":{"dtype":"U8","dtype":"I8"}})", ""), "header: invalid JSON: the key \"dtype\" occurs twice"},
      {FileOf(std::string(1000, '['), ""), "header: invalid JSON: nested deeper than 64"},
      {FileOf(R"({"__metadata__":[]})", ""), "__metadata__: expected an object, got []"},
      {FileOf(R"({"__metadata__":{"k":1}})", ""), "__metadata__: field \"k\": expected a string, got 1"},
      {entry("7"), "tensor \"a\": expected an object, got 7"},
      {entry(R"({"shape":[8],"data_offsets":[0,8]})"), "tensor \"a\": field \"dtype\" is missing"},
      {entry(R"({"dtype":"U8","data_offsets":[0,8]})"), "tensor \"a\": field \"shape\" is missing"},
      {entry(R"({"dtype":"U8","shape":[8]})"), "tensor \"a\": field \"data_offsets\" is missing"},
      {entry(R"({"dtype":1,"shape":[8],"data_offsets":[0,8]})"), "tensor \"a\": dtype: expected a string, got 1"},
      {entry(R"({"dtype":"F8","shape":[8],"data_offsets":[0,8]})"),
       "tensor \"a\": dtype: expected one of " + known + ", got \"F8\""},
      {entry(R"({"dtype":"U8","shape":8,"data_offsets":[0,8]})"),
       "tensor \"a\": shape: expected a list of integers, got 8"},
      {entry(R"({"dtype":"U8","shape":[-8],"data_offsets":[0,8]})"),
       "tensor \"a\": shape: expected integers >= 0, got -8"},
      {entry(R"({"dtype":"U8","shape":[8.0],"data_offsets":[0,8]})"),
       "tensor \"a\": shape: expected integers >= 0, got 8.0"},
      {entry(R"({"dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,8]})"),
       "tensor \"a\": shape: expected integers >= 0, got 9223372036854775808"},
      {entry(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]})"),
       "tensor \"a\": shape: expected a size that fits into memory, got [4294967296, 4294967296]"},
      {entry(R"({"dtype":"I64","shape":[2305843009213693953],"data_offsets":[0,8]})"),
       "tensor \"a\": shape: expected a size that fits into memory, got [2305843009213693953]"},
      {entry(R"({"dtype":"U8","shape":[8],"data_offsets":[0]})"),
       "tensor \"a\": data_offsets: expected two integers >= 0, got [0]"},
      {entry(R"({"dtype":"U8","shape":[8],"data_offsets":["0",8]})"),
       "tensor \"a\": data_offsets: expected two integers >= 0, got [\"0\",8]"},
      {entry(R"({"dtype":"U8","shape":[8],"data_offsets":[-1,7]})"),
       "tensor \"a\": data_offsets: expected two integers >= 0, got [-1,7]"},
      {entry(R"({"dtype":"U8","shape":[8],"data_offsets":[8,0]})"),
       "tensor \"a\": data_offsets: expected begin <= end <= 8 (the size of the buffer), got [8, 0]"},
      {entry(R"({"dtype":"U8","shape":[8],"data_offsets":[1,9]})"),
       "tensor \"a\": data_offsets: expected begin <= end <= 8 (the size of the buffer), got [1, 9]"},
      {entry(R"({"dtype":"F32","shape":[1],"data_offsets":[0,8]})"),
       "tensor \"a\": data_offsets: expected 4 bytes for F32 [1], got 8 in [0, 8]"},
      {entry(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})"),
       "tensor \"a\": data_offsets: expected to begin at byte 0 where the one before ends, got 4 (a hole)"},
      {entry(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})"),
       "expected the tensors to fill the buffer of 8 bytes, got 4 bytes"},
      {FileOf(
           R"({"a":{"dtype":"U8","shape":[6],"data_offsets":[0,6]},"b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
           eight),
       "tensor \"b\": data_offsets: expected to begin at byte 6 where the one before ends, got 4 (they overlap)"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(OpenMessage(c.bytes), StartsWith(path_.string() + ": " + c.message));
  }
}

TEST_F(SafetensorsTest, FilesThatCannotBeOpened) {
  EXPECT_EQ(MessageOf([&] { SafetensorsFile::Open(path_); }),
            path_.string() + ": cannot open: No such file or directory");
  EXPECT_EQ(MessageOf([&] { SafetensorsFile::Open(directory_.path()); }),
            directory_.path().string() + ": expected a safetensors file, got something that is not a regular file");
}

// Damaged files are refused or read, but every byte of every view is inside the file (the address sanitizer looks on).
TEST_F(SafetensorsTest, DamagedFilesNeverCrash) {
  const std::vector<float> values{1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<int16_t> shorts{1, 2, 3};
  WriteSafetensors(path_,
                   {{"model.a", View(DType::F32, {2, 4}, values)},
                    {"model.b", View(DType::F16, {3, 1}, shorts)},
                    {"empty", View<float>(DType::F32, {0}, {})}},
                   {{"format", "pt"}});
  const std::string whole = ReadFile(path_);
  int refused = 0, read = 0;
  for (uint64_t trial = 0; trial < 4000; ++trial) {
    Rng rng(1, trial);
    std::string bytes = whole;
    if (rng.Below(4) == 0) bytes.resize(rng.Below(static_cast<uint32_t>(bytes.size() + 1)));
    for (uint32_t flips = rng.Below(4); flips > 0 && !bytes.empty(); --flips) {
      bytes[rng.Below(static_cast<uint32_t>(bytes.size()))] ^= static_cast<char>(1 << rng.Below(8));
    }
    std::ofstream(path_, std::ios::binary) << bytes;  // plain: a sync for each trial would take a minute
    try {
      const SafetensorsFile file = SafetensorsFile::Open(path_);
      size_t sum = 0;
      for (const auto& [name, view] : file.tensors()) sum += Bytes(view).size();
      EXPECT_LT(sum, bytes.size());
      ++read;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(read, 500);
}

TEST(ToFloats, ConvertsEachFloatType) {
  const std::vector<double> f64{0.1, -3};
  EXPECT_THAT(ToFloats(View(DType::F64, {2}, f64)), ElementsAre(0.1f, -3.0f));
  const std::vector<uint16_t> bf16{0x3F80, 0xC040, 0x0001, 0x7F80};
  EXPECT_THAT(ToFloats(View(DType::BF16, {4}, bf16)),
              ElementsAre(1.0f, -3.0f, std::ldexp(1.0f, -133), std::numeric_limits<float>::infinity()));
  // 1, -2, largest, smallest normal, largest and smallest subnormal, -0, infinity.
  const std::vector<uint16_t> f16{0x3C00, 0xC000, 0x7BFF, 0x0400, 0x03FF, 0x0001, 0x8000, 0xFC00};
  const std::vector<float> floats = ToFloats(View(DType::F16, {8}, f16));
  EXPECT_THAT(floats, ElementsAre(1.0f, -2.0f, 65504.0f, std::ldexp(1.0f, -14), 1023 * std::ldexp(1.0f, -24),
                                  std::ldexp(1.0f, -24), 0.0f, -std::numeric_limits<float>::infinity()));
  EXPECT_TRUE(std::signbit(floats[6]));
  const std::vector<uint16_t> nan{0x7E00};
  EXPECT_TRUE(std::isnan(ToFloats(View(DType::F16, {1}, nan))[0]));
  const std::vector<int32_t> i32{1};
  EXPECT_EQ(MessageOf([&] { ToFloats(View(DType::I32, {1}, i32)); }),
            "[ToFloats] expected a tensor of type F64, F32, F16 or BF16, got I32");
}

// All 65,536 halves against the definition.
TEST(ToFloats, EachHalf) {
  std::vector<uint16_t> halves(65536);
  for (int i = 0; i < 65536; ++i) halves[i] = static_cast<uint16_t>(i);
  const std::vector<float> floats = ToFloats(View(DType::F16, {65536}, halves));
  for (int i = 0; i < 65536; ++i) {
    const int exponent = i >> 10 & 31, mantissa = i & 1023;
    if (exponent == 31) {
      EXPECT_EQ(mantissa == 0, std::isinf(floats[i])) << i;
      continue;
    }
    const double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    ASSERT_EQ(floats[i], i & 0x8000 ? -magnitude : magnitude) << i;
  }
}

}  // namespace
}  // namespace lrnn
