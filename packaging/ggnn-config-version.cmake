# ggnn-config-version.cmake - which versions find_package(ggnn VERSION) takes: an equal or older one of the same minor
# version, as each minor version may ask users to change their code (CHANGELOG.md). The version is that of ggnn.h.
set(ggnn_header "${CMAKE_CURRENT_LIST_DIR}/../ggnn.h") # in the project's own folder, beside which an older install may lie
if(NOT EXISTS "${ggnn_header}")
    set(ggnn_header "${CMAKE_CURRENT_LIST_DIR}/../../include/ggnn.h")
endif()
file(STRINGS "${ggnn_header}" PACKAGE_VERSION LIMIT_COUNT 1 REGEX "^#define GGNN_VERSION ")
string(REGEX REPLACE ".*\"(.*)\".*" "\\1" PACKAGE_VERSION "${PACKAGE_VERSION}")
string(REGEX MATCH "^[0-9]+\\.[0-9]+" ggnn_minor "${PACKAGE_VERSION}")

# find_package(ggnn 0.3...0.4): one of a range
set(ggnn_within TRUE)
if(PACKAGE_FIND_VERSION_RANGE)
    if(PACKAGE_VERSION VERSION_GREATER PACKAGE_FIND_VERSION_MAX
        OR (PACKAGE_FIND_VERSION_RANGE_MAX STREQUAL "EXCLUDE" AND PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION_MAX))
        set(ggnn_within FALSE)
    endif()
elseif(NOT "${PACKAGE_FIND_VERSION_MAJOR}.${PACKAGE_FIND_VERSION_MINOR}" STREQUAL ggnn_minor)
    set(ggnn_within FALSE)
endif()
set(PACKAGE_VERSION_COMPATIBLE FALSE)
set(PACKAGE_VERSION_EXACT FALSE)
if(ggnn_within AND NOT PACKAGE_VERSION VERSION_LESS "${PACKAGE_FIND_VERSION}")
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_VERSION VERSION_EQUAL "${PACKAGE_FIND_VERSION}")
    set(PACKAGE_VERSION_EXACT TRUE)
endif()
