# How every target of ours is built. Include root is the project's root, so an include names its layer.

# Warnings of our own code are errors; headers of dependencies are system headers.
add_library(pixhist_options INTERFACE)
target_compile_features(pixhist_options INTERFACE cxx_std_20)
target_include_directories(pixhist_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(pixhist_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
    -Werror -ffp-contract=off>
  # g++ 12 warns falsely inside std::string (GCC bug 105651).
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict>
  # Debian's CMake 3.25.1 rejects CUDA_STANDARD 20 with nvcc 13, so the flag is given by hand.
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 -Werror=all-warnings -Xcompiler=-Wall,-Wextra,-Werror,-ffp-contract=off>)
target_compile_definitions(pixhist_options INTERFACE PIXHIST_VERSION="${PROJECT_VERSION}"
  PIXHIST_HAVE_CUDA=$<BOOL:${PIXHIST_HAVE_CUDA}>)

if(PIXHIST_SANITIZE)
  target_compile_options(pixhist_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${PIXHIST_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all>)
  target_link_options(pixhist_options INTERFACE -fsanitize=${PIXHIST_SANITIZE})
endif()

# Each header listed in a target's header set is also compiled alone (target all_verify_interface_header_sets).
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)

# pixhist_sources(target [SOURCES ...] [HEADERS ...]): adds files of the calling folder to a library target.
function(pixhist_sources target)
  cmake_parse_arguments(ARG "" "" "SOURCES;HEADERS" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(TRANSFORM ARG_HEADERS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  if(ARG_SOURCES)
    target_sources(${target} PRIVATE ${ARG_SOURCES})
  endif()
  if(ARG_HEADERS)
    target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${ARG_HEADERS})
  endif()
endfunction()
