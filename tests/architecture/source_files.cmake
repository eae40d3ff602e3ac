# source_files(root out): every source file of ours below root, relative to it, sorted. Fails on an empty tree,
# since a check of nothing would pass.
function(source_files root out)
  set(files)
  foreach(folder core proto service tools tests bench clients deploy)
    file(GLOB_RECURSE found RELATIVE ${root} ${root}/${folder}/*.hpp ${root}/${folder}/*.cpp ${root}/${folder}/*.cu
         ${root}/${folder}/*.cuh ${root}/${folder}/*.py)
    list(APPEND files ${found})
  endforeach()
  if(NOT files)
    message(FATAL_ERROR "no source files below '${root}'")
  endif()
  list(SORT files)
  set(${out} ${files} PARENT_SCOPE)
endfunction()
