# The CPython that a build embeds: its headers, its static library, and where its standard library is. It is
# Debian's, or the one that TERRA_PYTHON_EXECUTABLE belongs to.
set(verified 3.11) # minor versions with which all tests pass
set(known 3.11 3.12)    # those with files here
if(NOT TERRA_PYTHON IN_LIST known)
  list(JOIN known ", " known)
  message(FATAL_ERROR "TERRA_PYTHON=${TERRA_PYTHON} is not a CPython that Terra knows: set it to one of ${known}.")
endif()
if(NOT TERRA_PYTHON IN_LIST verified AND NOT TERRA_PYTHON_UNVERIFIED)
  message(FATAL_ERROR "Terra has not been verified with CPython ${TERRA_PYTHON}: programs may crash, or compute "
                      "something else under capture. Build with TERRA_PYTHON=${verified}, or say "
                      "-DTERRA_PYTHON_UNVERIFIED=ON.")
endif()

if(TERRA_PYTHON_EXECUTABLE)
  execute_process(COMMAND ${TERRA_PYTHON_EXECUTABLE} -c "
import sys, sysconfig
print(*map(sysconfig.get_config_var, ('VERSION', 'INCLUDEPY', 'LIBPL', 'LIBRARY')), sys.base_prefix, sep=';')"
                  OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "TERRA_PYTHON_EXECUTABLE=${TERRA_PYTHON_EXECUTABLE} is no Python interpreter that runs.")
  endif()
  list(GET answer 0 version)
  list(GET answer 1 TERRA_PYTHON_INCLUDE)
  list(GET answer 2 folder)
  list(GET answer 3 name)
  list(GET answer 4 TERRA_PYTHON_PREFIX)
  set(TERRA_PYTHON_LIBRARY ${folder}/${name})
  if(NOT version STREQUAL TERRA_PYTHON)
    message(FATAL_ERROR "${TERRA_PYTHON_EXECUTABLE} is CPython ${version}, and TERRA_PYTHON asks for ${TERRA_PYTHON}.")
  endif()
  foreach(file ${TERRA_PYTHON_INCLUDE}/Python.h ${TERRA_PYTHON_LIBRARY})
    if(NOT EXISTS ${file})
      message(FATAL_ERROR "${TERRA_PYTHON_EXECUTABLE} has no ${file}: Terra embeds the static library of an "
                          "interpreter that was installed with its headers.")
    endif()
  endforeach()
elseif(TERRA_PYTHON STREQUAL 3.11)
  find_path(TERRA_PYTHON_INCLUDE Python.h PATHS /usr/include/python3.11 NO_DEFAULT_PATH)
  find_library(TERRA_PYTHON_LIBRARY libpython3.11.a
               PATHS /usr/lib/python3.11/config-3.11-x86_64-linux-gnu /usr/lib/x86_64-linux-gnu NO_DEFAULT_PATH)
  terra_need("${TERRA_PYTHON_INCLUDE}" "the CPython 3.11 headers" libpython3.11-dev)
  terra_need("${TERRA_PYTHON_LIBRARY}" "the static libpython3.11.a" libpython3.11-dev)
  set(TERRA_PYTHON_PREFIX /usr)
else()
  message(FATAL_ERROR "Debian 12 has no CPython ${TERRA_PYTHON}: name an interpreter of that version with "
                      "-DTERRA_PYTHON_EXECUTABLE=PATH.")
endif()

set(TERRA_PYTHON_DEPENDENCIES) # what the static library leaves to its program
foreach(library expat z)
  find_library(TERRA_LIBRARY_${library} ${library})
  terra_need("${TERRA_LIBRARY_${library}}" "lib${library}, which CPython uses" "libexpat1-dev zlib1g-dev")
  list(APPEND TERRA_PYTHON_DEPENDENCIES ${TERRA_LIBRARY_${library}})
endforeach()
list(APPEND TERRA_PYTHON_DEPENDENCIES Threads::Threads ${CMAKE_DL_LIBS} util m)

# terra_choose_version(<target>): of its files that are named for a version of CPython (frame_311.c), those stay that
# hold for the chosen one: of several for one concept, the newest that is not newer than the version.
function(terra_choose_version target)
  string(REPLACE "." "" chosen ${TERRA_PYTHON})
  get_target_property(sources ${target} SOURCES)
  set(kept)
  foreach(source ${sources})
    if(NOT source MATCHES "^(.*)_(3[0-9][0-9])\\.c$")
      list(APPEND kept ${source})
    elseif(CMAKE_MATCH_2 LESS_EQUAL chosen)
      set(concept ${CMAKE_MATCH_1})
      list(FILTER kept EXCLUDE REGEX "^${concept}_3[0-9][0-9]\\.c$") # sources are sorted: an older one
      list(APPEND kept ${source})
    endif()
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES ${kept})
endfunction()
