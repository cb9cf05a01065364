# holdfast_embed_assets(TARGET DIRECTORY): makes web/index.html and web/assets/* part of TARGET, as
# src/http/page.h declares them. Run as a script (cmake -P) it writes the source.
if(CMAKE_SCRIPT_MODE_FILE)
  set(types_html "text/html; charset=utf-8")
  set(types_js "text/javascript; charset=utf-8")
  set(types_css "text/css; charset=utf-8")
  set(types_svg "image/svg+xml")
  set(types_png "image/png")
  set(types_json "application/json")
  set(types_txt "text/plain; charset=utf-8")
  set(arrays "")
  set(rows "")
  set(number 0)
  file(GLOB files RELATIVE ${DIRECTORY} ${DIRECTORY}/assets/*)
  list(SORT files)
  foreach(file index.html ${files})
    if(NOT EXISTS ${DIRECTORY}/${file})
      continue()
    endif()
    get_filename_component(extension ${file} LAST_EXT)
    string(REPLACE "." "" extension "${extension}")
    if(NOT DEFINED types_${extension})
      message(FATAL_ERROR "web/${file}: no content type is known for it; add one here")
    endif()
    file(READ ${DIRECTORY}/${file} hex HEX)
    file(SHA256 ${DIRECTORY}/${file} hash)
    string(SUBSTRING ${hash} 0 32 hash)
    string(LENGTH "${hex}" digits)
    math(EXPR size "${digits} / 2")
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "((0x..,){20})" "\\1\n" bytes "${bytes}")
    if(file STREQUAL "index.html")
      set(path "/")
    else()
      set(path "/${file}")
    endif()
    string(APPEND arrays "constexpr unsigned char kBytes${number}[] = {\n${bytes}0};\n")
    string(APPEND rows "    {\"${path}\", \"${types_${extension}}\", \"\\\"${hash}\\\"\", view(kBytes${number}, ${size})},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  file(WRITE ${OUTPUT} "// Made by cmake/HoldfastAssets.cmake from web/.
#include \"http/page.h\"

namespace holdfast::http {
namespace {
std::string_view view(const unsigned char* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}
${arrays}
}  // namespace

std::span<const Asset> assets() {
  static const Asset kAssets[] = {
${rows}    {\"\", \"\", \"\", {}},
  };
  return std::span<const Asset>{kAssets}.first(${number});
}
}  // namespace holdfast::http
")
  return()
endif()

set(HOLDFAST_ASSETS_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(holdfast_embed_assets target directory)
  file(GLOB files CONFIGURE_DEPENDS ${directory}/index.html ${directory}/assets/*)
  set(output ${PROJECT_BINARY_DIR}/generated/page_assets.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DDIRECTORY=${directory} -DOUTPUT=${output} -P ${HOLDFAST_ASSETS_SCRIPT}
    DEPENDS ${files} ${HOLDFAST_ASSETS_SCRIPT}
    COMMENT "Embedding the page"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
