# presets.cmake - writes the texts of all presets as C: samples/<name>.ini for each line of
# presets.def, into ${out}.
file(STRINGS ${CMAKE_SOURCE_DIR}/config/presets.def lines REGEX "^PRESET")
set(arrays "")
set(rows "")
foreach(line ${lines})
  string(REGEX REPLACE "PRESET\\(([a-z_0-9]+), \"([a-z-]+)\"\\).*" "\\1;\\2" pair "${line}")
  list(GET pair 0 id)
  list(GET pair 1 name)
  set(sample ${CMAKE_SOURCE_DIR}/samples/${name}.ini)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sample})
  file(READ ${sample} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "static const char ${id}[] = {${bytes}0};\n")
  string(APPEND rows "    {\"${name}\", ${id}},\n")
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${CMAKE_SOURCE_DIR}/config/presets.def)
file(CONFIGURE OUTPUT ${out} CONTENT [[
/* The presets; written by presets.cmake. */
#include "config/preset.h"

@arrays@
const struct preset presets[] = {
@rows@};
const size_t presets_count = sizeof(presets) / sizeof(presets[0]);
]] @ONLY)
