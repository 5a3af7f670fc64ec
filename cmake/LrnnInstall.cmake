# Installs the program `lrnn` and the CMake package of the same name; lrnn_component has installed libraries and headers.
include(CMakePackageConfigHelpers)

get_property(LRNN_COMPONENTS GLOBAL PROPERTY LRNN_COMPONENTS)
get_property(LRNN_TORCH_COMPONENTS GLOBAL PROPERTY LRNN_TORCH_COMPONENTS)
set(_lrnn_package lib/cmake/lrnn)

install(EXPORT lrnnTargets NAMESPACE lrnn:: DESTINATION ${_lrnn_package})
if(LRNN_TORCH_COMPONENTS)
  install(EXPORT lrnnTorchTargets NAMESPACE lrnn:: DESTINATION ${_lrnn_package})
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/lrnnConfig.cmake.in ${PROJECT_BINARY_DIR}/lrnnConfig.cmake
  INSTALL_DESTINATION ${_lrnn_package} NO_SET_AND_CHECK_MACRO)
# 0.x: a minor version may break its users.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lrnnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lrnnConfig.cmake ${PROJECT_BINARY_DIR}/lrnnConfigVersion.cmake
  DESTINATION ${_lrnn_package})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/doc/lrnn)

if(TARGET lrnn)
  # A libtorch outside the system's folders must be found again.
  set_target_properties(lrnn PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS lrnn RUNTIME DESTINATION bin)
endif()
