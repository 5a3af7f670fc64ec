# Writes C++ that holds text files: cmake -DROOT=... -DFILES="a;b" -DOUTPUT=x.cc -P embed_files.cmake
set(entries "")
foreach(file IN LISTS FILES)
  file(READ ${ROOT}/${file} text)
  string(FIND "${text}" ")lrnn_file\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${file}: contains the end of a raw string")
  endif()
  string(APPEND entries "    {\"${file}\", R\"lrnn_file(${text})lrnn_file\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made by lrnn/experiments/embed_files.cmake.
#include \"lrnn/experiments/experiment_files.h\"

namespace lrnn {

const std::map<std::string, std::string_view>& EmbeddedFiles() {
  static const std::map<std::string, std::string_view> files = {
${entries}  };
  return files;
}

}  // namespace lrnn
")
