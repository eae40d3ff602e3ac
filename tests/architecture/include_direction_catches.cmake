# cmake -DCHECK=include_direction.cmake -DSCRATCH=folder -P include_direction_catches.cmake: the check passes a
# good tree and fails the same tree with any one bad include added.
function(run_check expected what)
  execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${SCRATCH} -P ${CHECK} RESULT_VARIABLE result OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(expected STREQUAL "passes" AND NOT result EQUAL 0)
    message(FATAL_ERROR "the check fails on ${what}:\n${output}")
  elseif(expected STREQUAL "fails" AND (result EQUAL 0 OR NOT output MATCHES "1 includes against the rules"))
    message(FATAL_ERROR "the check does not find exactly the one bad include of ${what}:\n${output}")
  endif()
endfunction()

function(good_tree)
  file(REMOVE_RECURSE ${SCRATCH})
  file(WRITE ${SCRATCH}/core/model/a.hpp "#include <vector>\n")
  file(WRITE ${SCRATCH}/core/ring/r.hpp "#include \"core/model/a.hpp\"\n")
  file(WRITE ${SCRATCH}/core/accumulators/accumulator.hpp "")
  file(WRITE ${SCRATCH}/core/accumulators/kind/cpu_k.hpp "#include \"core/accumulators/accumulator.hpp\"\n")
  file(WRITE ${SCRATCH}/core/accumulators/kind/cuda_k.hpp "#include <cuda_runtime.h>\n")
  file(WRITE ${SCRATCH}/core/accumulators/kind/fill.cuh "")
  file(WRITE ${SCRATCH}/core/pipeline/p.cpp "#include \"core/accumulators/accumulator.hpp\"\n")
  file(WRITE ${SCRATCH}/proto/p.hpp "#include <nlohmann/json.hpp>\n#include \"core/ring/r.hpp\"\n")
  file(WRITE ${SCRATCH}/service/s.cpp "#include <zmq.hpp>\n#include \"proto/p.hpp\"\n")
  file(WRITE ${SCRATCH}/tools/t.hpp "#include \"proto/p.hpp\"\n")
  file(WRITE ${SCRATCH}/tests/t.cpp "#include \"tools/t.hpp\"\n#include \"core/accumulators/kind/cuda_k.hpp\"\n")
endfunction()

good_tree()
run_check(passes "a good tree")

foreach(bad IN ITEMS
    "core/ring/bad.hpp|\"proto/p.hpp\"" "core/ring/bad.cpp|\"tools/t.hpp\"" "core/ring/bad.hpp|<zmq.hpp>"
    "core/model/bad.hpp|\"core/ring/r.hpp\"" "core/model/bad.hpp|<nlohmann/json.hpp>"
    "proto/bad.cpp|\"service/s.cpp\"" "proto/bad.cpp|<zmq.hpp>" "service/bad.hpp|\"tools/t.hpp\""
    "tools/bad.cpp|\"tests/t.cpp\"" "service/bad.cpp|\"tests/t.cpp\""
    "core/accumulators/kind/cpu_bad.cpp|\"core/accumulators/kind/cuda_k.hpp\""
    "core/accumulators/kind/cpu_bad.cpp|\"core/accumulators/kind/fill.cuh\""
    "core/accumulators/kind/cpu_bad.cpp|<cuda_runtime.h>"
    "core/accumulators/kind/bad_kernel.cuh|\"core/accumulators/kind/cpu_k.hpp\""
    "core/pipeline/bad.cpp|\"core/accumulators/kind/cpu_k.hpp\""
    "core/pipeline/bad.hpp|\"core/accumulators/kind/cuda_k.hpp\""
    "core/ring/bad.hpp|\"r.hpp\"" "core/ring/bad.hpp|\"../model/a.hpp\"" "core/ring/bad.hpp|<core/model/a.hpp>"
    "service/bad.cpp|\"zmq.hpp\"")
  string(REPLACE "|" ";" bad "${bad}")
  list(GET bad 0 file)
  list(GET bad 1 include)
  good_tree()
  file(WRITE ${SCRATCH}/${file} "  #  include ${include}\n")
  run_check(fails "${file} with ${include}")
endforeach()
file(REMOVE_RECURSE ${SCRATCH})
