# One way to make each kind of target.

# holdfast_add_library(NAME USES layers... LINK targets...): the layer in src/NAME. Tests (x_test.cpp) and
# programs' main.cpp stay out of it.
function(holdfast_add_library name)
  cmake_parse_arguments(ARG "" "" "USES;LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$|/main\\.cpp$")
  if(NOT sources)
    set(sources ${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.cpp)
    file(WRITE ${sources} "")
  endif()
  add_library(holdfast_${name} STATIC ${sources})
  target_include_directories(holdfast_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  set_target_properties(holdfast_${name} PROPERTIES LINKER_LANGUAGE CXX)
  list(TRANSFORM ARG_USES PREPEND holdfast_)
  target_link_libraries(holdfast_${name} PUBLIC ${ARG_USES} ${ARG_LINK} PRIVATE holdfast_flags)
endfunction()

# The library that users link: the objects of the layers named, in one archive.
function(holdfast_add_product_library)
  set(objects)
  foreach(layer ${ARGN})
    list(APPEND objects $<TARGET_OBJECTS:holdfast_${layer}>)
  endforeach()
  add_library(holdfast_lib STATIC ${objects})
  add_library(holdfast::holdfast ALIAS holdfast_lib)
  set_target_properties(holdfast_lib PROPERTIES OUTPUT_NAME holdfast EXPORT_NAME holdfast LINKER_LANGUAGE CXX)
  target_include_directories(holdfast_lib INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(holdfast_lib PUBLIC cxx_std_23)
  # Of these an installed library makes holdfastConfig.cmake's targets, which need no pkg-config.
  set(found $<BUILD_INTERFACE:PkgConfig::ZSTD> $<BUILD_INTERFACE:PkgConfig::XXHASH>
    $<INSTALL_INTERFACE:holdfast::zstd> $<INSTALL_INTERFACE:holdfast::xxhash>)
  target_link_libraries(holdfast_lib PRIVATE fmt::fmt simdjson::simdjson SQLite::SQLite3 Threads::Threads ${found}
    $<BUILD_INTERFACE:holdfast_flags>)
endfunction()

function(holdfast_add_program name main)
  cmake_parse_arguments(ARG "" "" "USES" ${ARGN})
  add_executable(${name} ${main})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  list(TRANSFORM ARG_USES PREPEND holdfast_)
  target_link_libraries(${name} PRIVATE ${ARG_USES} holdfast_flags)
endfunction()

# holdfast_add_test(NAME sources... [USES layers...] [LABELS ...] [TIMEOUT s]): one gtest program, each of
# its tests a ctest test.
function(holdfast_add_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "USES;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  # Tests count and never time: what compiles faster is worth more than what runs faster.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  list(TRANSFORM ARG_USES PREPEND holdfast_)
  target_link_libraries(${name} PRIVATE ${ARG_USES} holdfast_flags GTest::gmock GTest::gtest_main)
  include(GoogleTest)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()

# The unit tests that stand beside the sources of each layer named.
function(holdfast_add_unit_tests)
  foreach(layer ${ARGN})
    file(GLOB_RECURSE tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${layer}/*_test.cpp)
    if(tests)
      holdfast_add_test(${layer}_test ${tests} USES ${layer})
    endif()
  endforeach()
endfunction()
