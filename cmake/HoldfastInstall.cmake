# What is installed: the program with its manual and completions, and the library with its public
# headers, CMake package and pkg-config file. tests/consumer builds against the result.
include(CMakePackageConfigHelpers)

# The library.
file(GLOB public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/holdfast/*.h)
target_sources(holdfast_lib PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${public_headers})
# `all_verify_interface_header_sets` compiles each public header alone.
set_target_properties(holdfast_lib PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast)
install(TARGETS holdfast_lib EXPORT holdfastTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(EXPORT holdfastTargets NAMESPACE holdfast:: DESTINATION ${package_dir} COMPONENT dev)
configure_package_config_file(cmake/holdfastConfig.cmake.in ${PROJECT_BINARY_DIR}/holdfastConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/holdfastConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/holdfastConfig.cmake ${PROJECT_BINARY_DIR}/holdfastConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT dev)
# Relative to itself, so that an installed tree can be moved.
file(RELATIVE_PATH holdfast_pc_to_prefix /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(cmake/holdfast.pc.in ${PROJECT_BINARY_DIR}/holdfast.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/holdfast.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT dev)

# The program. It writes its own manual page and completions, so that they say what it does.
if(HOLDFAST_PROGRAM)
  install(TARGETS holdfast RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
  function(holdfast_install_written directory name)
    set(written ${PROJECT_BINARY_DIR}/written/${directory}/${name})
    install(CODE "
      file(MAKE_DIRECTORY \"${PROJECT_BINARY_DIR}/written/${directory}\")
      execute_process(COMMAND \"$<TARGET_FILE:holdfast>\" ${ARGN} OUTPUT_FILE \"${written}\" COMMAND_ERROR_IS_FATAL ANY)
      " COMPONENT program)
    install(FILES ${written} DESTINATION ${CMAKE_INSTALL_DATADIR}/${directory} COMPONENT program)
  endfunction()
  holdfast_install_written(man/man1 holdfast.1 man)
  holdfast_install_written(bash-completion/completions holdfast completion bash)
  holdfast_install_written(zsh/site-functions _holdfast completion zsh)
  holdfast_install_written(fish/vendor_completions.d holdfast.fish completion fish)
endif()

# `cpack --config build/release/CPackConfig.cmake` makes holdfast.deb and holdfast-dev.deb.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME holdfast)
set(CPACK_PACKAGE_CONTACT "The Holdfast maintainers <maintainers@holdfast.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Durable streams on one log: server, command line and C++ library")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL program dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME holdfast)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_DEV_DESCRIPTION "Headers, static library, CMake package and pkg-config file.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME holdfast-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "libsqlite3-dev, libzstd-dev, libxxhash-dev, libfmt-dev, libsimdjson-dev, nlohmann-json3-dev")
include(CPack)
