# conanfile.py - ggnn for Conan 2: `conan create .` packs what CMakeLists.txt installs, so find_package(ggnn) gives the targets
# of packaging/ggnn-config.cmake with Conan's CMakeToolchain.
import glob
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

required_conan_version = ">=2.0"


class GgnnConan(ConanFile):
    name = "ggnn"
    description = "graph sampling and GNN kernels in one C99 header"
    license = "MIT"
    topics = ("gnn", "graph", "cuda", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"  # of the consumer: package_id forgets them
    no_copy_source = True
    test_package_folder = "packaging/test_package"

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, "ggnn.h"))
        self.version = re.search(r'^#define GGNN_VERSION "(.*)"', header, re.M).group(1)

    def export_sources(self):
        lines = load(self, os.path.join(self.recipe_folder, "packaging/files")).splitlines()
        patterns = [line.split()[0] for line in lines if not line.startswith("#")]
        for pattern in ["CMakeLists.txt", "packaging/files"] + patterns:
            for path in glob.glob(os.path.join(self.recipe_folder, pattern)):
                copy(self, os.path.relpath(path, self.recipe_folder), self.recipe_folder, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeToolchain(self).generate()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        cmake = CMake(self)
        cmake.configure()
        cmake.install()

    def package_id(self):
        self.info.clear()

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.set_property("cmake_find_mode", "none")  # the package has its own
        self.cpp_info.builddirs = ["share/ggnn"]
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs = ["m"]
