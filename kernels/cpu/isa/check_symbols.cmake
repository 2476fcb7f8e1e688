# cmake -D NM=... -D LEVEL=v4 -D OBJECTS=a.o;b.o -P check_symbols.cmake
#
# Fails if objects compiled for one instruction set define a shared (weak) symbol outside the namespaces of that level:
# the linker would keep one copy for the whole program, perhaps this one, on a processor that lacks its instructions.
# References to personality routines (DW.ref.*) are pointers and hold no instruction.
execute_process(COMMAND ${NM} -C --defined-only ${OBJECTS} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]* [WVu] [^\n]*" shared "${symbols}")
set(wrong "")
foreach(symbol IN LISTS shared)
  if(NOT symbol MATCHES "terra::cpu::${LEVEL}::|Eigen_${LEVEL}::| DW\\.ref\\.")
    list(APPEND wrong "${symbol}")
  endif()
endforeach()
if(wrong)
  list(JOIN wrong "\n  " wrong)
  message(FATAL_ERROR "Shared symbols compiled for x86-64-${LEVEL} (see kernels/cpu/isa.h):\n  ${wrong}")
endif()
