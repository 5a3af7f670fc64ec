# Everything lrnn needs comes from Debian packages; tools/setup.sh lists and installs them.
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(fmt REQUIRED)
find_package(hwy REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)

if(LRNN_TORCH)
  # Torch's own package looks for caffe2 parts it does not need and says so at length.
  set(_lrnn_quiet ${CMAKE_MESSAGE_LOG_LEVEL})
  set(CMAKE_MESSAGE_LOG_LEVEL WARNING)
  find_package(Torch REQUIRED)
  set(CMAKE_MESSAGE_LOG_LEVEL ${_lrnn_quiet})
  # oneDNN for matrix products; without it they are torch's own. Its CMake package asks for OpenCL, which is not needed.
  find_library(LRNN_DNNL dnnl)
  find_path(LRNN_DNNL_HEADERS dnnl.h)
  mark_as_advanced(LRNN_DNNL LRNN_DNNL_HEADERS)
endif()
if(LRNN_TESTS)
  find_package(GTest REQUIRED)
endif()
if(LRNN_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()

# For programs, never for libraries: glibc's malloc gives torch's large buffers back to the kernel and takes the page
# faults again. Sanitizers bring their own allocator.
add_library(lrnn_allocator INTERFACE)
find_library(LRNN_TCMALLOC tcmalloc_minimal)
mark_as_advanced(LRNN_TCMALLOC)
if(LRNN_TCMALLOC AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  # Nothing refers to the library by name, so a linker that drops what is not needed must be told.
  target_link_libraries(lrnn_allocator INTERFACE "-Wl,--push-state,--no-as-needed,${LRNN_TCMALLOC},--pop-state")
endif()
