# ggnn-config.cmake - the targets of ggnn for CMake 3.15 and newer, wherever it was installed, and moved to:
#   ggnn::ggnn      the headers, and libm. One file of yours defines GGNN_IMPLEMENTATION
#   ggnn::node64    64-bit node ids; beside each of the others, in all files of a program or in none
#   ggnn::cuda      C++17 for ggnn_cuda.cuh, and CUDA's runtime after find_package(CUDAToolkit)
#   ggnn::emulated  .cu files on the CPU, without CUDA: the emulator's headers and its core, where C++ is enabled. A
#                   file gets there by set_source_files_properties(FILE.cu PROPERTIES LANGUAGE CXX), in CMake 3.20
# OpenMP is yours: find_package(OpenMP), and OpenMP::OpenMP_C beside ggnn::ggnn.
cmake_policy(VERSION 3.15...3.31)
if(TARGET ggnn::ggnn)
    return()
endif()
get_filename_component(PACKAGE_PREFIX_DIR "${CMAKE_CURRENT_LIST_DIR}/../../" ABSOLUTE)

# Imported: users see no warnings of the headers. Global: add_subdirectory(ggnn) makes them for all folders.
add_library(ggnn::ggnn INTERFACE IMPORTED GLOBAL)
target_include_directories(ggnn::ggnn INTERFACE "${PACKAGE_PREFIX_DIR}/include")
if(NOT WIN32)
    target_link_libraries(ggnn::ggnn INTERFACE m)
endif()

add_library(ggnn::node64 INTERFACE IMPORTED GLOBAL)
target_compile_definitions(ggnn::node64 INTERFACE GGNN_NODE64)
target_link_libraries(ggnn::node64 INTERFACE ggnn::ggnn)

add_library(ggnn::cuda INTERFACE IMPORTED GLOBAL)
target_link_libraries(ggnn::cuda INTERFACE ggnn::ggnn $<TARGET_NAME_IF_EXISTS:CUDA::cudart>)
if(NOT CMAKE_VERSION VERSION_LESS 3.17) # which knows of it
    set_property(TARGET ggnn::cuda PROPERTY INTERFACE_COMPILE_FEATURES cuda_std_17)
endif()

get_property(ggnn_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if("CXX" IN_LIST ggnn_languages)
    # A library of the consumer's build, which is compiled if something links it. It calls the sanitizers' hooks itself.
    file(GLOB ggnn_core "${CMAKE_CURRENT_LIST_DIR}/simt/*.cc")
    add_library(ggnn_emulated STATIC EXCLUDE_FROM_ALL ${ggnn_core})
    add_library(ggnn::emulated ALIAS ggnn_emulated)
    target_include_directories(ggnn_emulated SYSTEM PUBLIC "${CMAKE_CURRENT_LIST_DIR}/simt")
    target_compile_definitions(ggnn_emulated PUBLIC _GNU_SOURCE)
    target_compile_features(ggnn_emulated PUBLIC cxx_std_17)
    target_compile_options(ggnn_emulated PRIVATE -O2 -w -fno-sanitize=all PUBLIC $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
    target_link_libraries(ggnn_emulated PUBLIC ggnn::ggnn pthread)
endif()
