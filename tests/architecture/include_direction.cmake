# cmake -DROOT=... -P include_direction.cmake: which folder may include which.
#   core/model <- core <- proto, service <- tools, bench, tests
# Quoted includes name a file from the root; headers of others are in angle brackets.
include(${CMAKE_CURRENT_LIST_DIR}/source_files.cmake)
source_files(${ROOT} files)
list(FILTER files EXCLUDE REGEX "\\.py$")

# Each rule: files that it is about; what they may not include; why. Regular expressions on path from the root,
# and on the include as written without its quotes or brackets.
set(rules)
macro(forbid from included why)
  list(LENGTH rules index)
  list(APPEND rules ${index})
  set(from_${index} "${from}")
  set(included_${index} "${included}")
  set(why_${index} "${why}")
endmacro()
forbid("^core/" "^(proto|service|tools|bench|tests|clients)/" "core knows nothing above itself")
forbid("^core/model/" "^core/([^m]|m[^o])"
       "core/model includes only core/model")
forbid("^core/" "^(zmq|nlohmann/|spdlog/|fmt/|prometheus/|civetweb|CivetServer|CLI/|doctest/)"
       "core uses std and CUDA only: no sockets, JSON, logging or metrics library")
forbid("^proto/" "^(service|tools|bench|tests|clients)/" "proto knows only core")
forbid("^proto/" "^(zmq|spdlog/|prometheus/|civetweb|CivetServer|CLI/)" "proto is bytes and meaning, no sockets or logging")
forbid("^service/" "^(tools|bench|tests|clients)/" "the service knows only core and proto")
forbid("^tools/" "^(bench|tests)/" "tools are not tests")
forbid("^bench/" "^tests/" "a bench is not a test")
forbid("^core/.*/cpu_[^/]*$" "(^|/)cuda_[^/]*$|[.]cuh$|^cuda" "the CPU twin does not know the CUDA twin")
forbid("^core/.*(/cuda_[^/]*|[.]cu|[.]cuh)$" "^core/.*/cpu_[^/]*$" "the CUDA twin does not know the CPU twin")
forbid("^core/pipeline/" "^core/accumulators/[^/]+/" "a pipeline knows accumulator.hpp, no concrete accumulator")

set(violations 0)
macro(violation why)
  message("${file}: ${line}\n  ${why}")
  math(EXPR violations "${violations} + 1")
endmacro()

foreach(file IN LISTS files)
  file(STRINGS ${ROOT}/${file} lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"]*)[>\"].*$" "\\1" included "${line}")
    foreach(rule IN LISTS rules)
      if(file MATCHES "${from_${rule}}" AND included MATCHES "${included_${rule}}")
        violation("${why_${rule}}")
      endif()
    endforeach()
    if(line MATCHES "include[ \t]*\"" AND (included MATCHES "\\.\\./" OR NOT EXISTS ${ROOT}/${included}))
      violation("a quoted include names a file from the root; other people's headers go in < >")
    elseif(line MATCHES "include[ \t]*<" AND included MATCHES "^(core|proto|service|tools|bench|tests)/")
      violation("our own headers go in quotes")
    endif()
  endforeach()
endforeach()

list(LENGTH files count)
if(violations)
  message(FATAL_ERROR "${violations} includes against the rules, in ${count} files")
endif()
message("${count} files, no include against the rules")
