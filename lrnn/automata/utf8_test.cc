#include "lrnn/automata/utf8.h"

#include <gtest/gtest.h>

namespace lrnn {
namespace {

TEST(Utf8, EveryCharacterSurvivesARoundTrip) {
  for (uint32_t code = 0; code <= 0x10FFFF; ++code) {
    const std::string text = EncodeUtf8(code);
    const Utf8Character character = DecodeUtf8(text, 0);
    if (code >= 0xD800 && code <= 0xDFFF) {
      ASSERT_EQ(character.bytes, 0) << code;  // surrogates are no characters
    } else {
      ASSERT_EQ(character.code, code);
      ASSERT_EQ(character.bytes, static_cast<int>(text.size()));
    }
  }
}

TEST(Utf8, RefusesWhatIsNotACharacter) {
  EXPECT_EQ(DecodeUtf8("", 0).bytes, 0);
  EXPECT_EQ(DecodeUtf8("\x80", 0).bytes, 0);              // a continuation first
  EXPECT_EQ(DecodeUtf8("\xC3", 0).bytes, 0);              // cut
  EXPECT_EQ(DecodeUtf8("\xC3z", 0).bytes, 0);             // not continued
  EXPECT_EQ(DecodeUtf8("\xC0\x80", 0).bytes, 0);          // overlong
  EXPECT_EQ(DecodeUtf8("\xE0\x80\x80", 0).bytes, 0);      // overlong
  EXPECT_EQ(DecodeUtf8("\xF0\x80\x80\x80", 0).bytes, 0);  // overlong
  EXPECT_EQ(DecodeUtf8("\xF4\x90\x80\x80", 0).bytes, 0);  // beyond U+10FFFF
  EXPECT_EQ(DecodeUtf8("\xFF", 0).bytes, 0);
}

}  // namespace
}  // namespace lrnn
