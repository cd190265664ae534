# simt.mk - builds tests/test_cuda_*.cc against the emulator (tests/simt), without the CUDA toolkit; one line of the
# Makefile includes it. Where the toolkit's headers are found, cuRAND's own Philox is compiled: NO_CURAND=1 leaves it.
CXX         ?= c++
SIMT        := tests/simt
SIMT_OBJECTS := $(patsubst $(SIMT)/%.cc,$(BUILD)/simt/%.o,$(wildcard $(SIMT)/simt_*.cc))
CUDA_HOME   ?= $(patsubst %/bin/nvcc,%,$(shell command -v nvcc))
SIMT_CURAND := $(if $(NO_CURAND),,$(wildcard $(CUDA_HOME)/include/curand_kernel.h))
CXXFLAGS    += -std=c++17 $(OPT) -ffp-contract=off -Wall -Wextra -Werror -Wno-unknown-pragmas
SIMT_FLAGS  := -I$(SIMT) -I. -D_GNU_SOURCE $(if $(SIMT_CURAND),-DSIMT_CURAND -idirafter $(CUDA_HOME)/include) \
               $(if $(filter 1,$(NODE64)),-DGGNN_NODE64)
CUDA_TESTS  := $(patsubst tests/%.cc,$(BUILD)/tests/%,$(wildcard tests/test_cuda_*.cc)) $(patsubst $(SIMT)/%.cc,$(BUILD)/tests/%,$(wildcard $(SIMT)/test_simt.cc))

cuda-tests: $(CUDA_TESTS)

# The core takes no sanitizer: it calls their hooks where a program has them.
$(BUILD)/simt/%.o: $(SIMT)/%.cc
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $(filter-out -fsanitize% -fno-sanitize%,$(EXTRA)) -O2 $(SIMT_FLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/tests/test_cuda_%.o: tests/test_cuda_%.cc
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $(EXTRA) $(SIMT_FLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/tests/test_simt.o: $(SIMT)/test_simt.cc
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $(EXTRA) $(SIMT_FLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/tests/test_cuda_%: $(BUILD)/tests/test_cuda_%.o $(SIMT_OBJECTS) $(ARCHIVE)
	$(CXX) $(CXXFLAGS) $(EXTRA) $(if $(OPENMP),-fopenmp) -o $@ $^ $(LDLIBS)
$(BUILD)/tests/test_simt: $(BUILD)/tests/test_simt.o $(SIMT_OBJECTS)
	$(CXX) $(CXXFLAGS) $(EXTRA) -o $@ $^

# ---- programs whose backend is the emulator ---------------------------------------------------------------------------
emulated: $(BUILD)/ggnn-data-emulated
$(BUILD)/emulated/%.o: %.cu
	@mkdir -p $(@D)
	$(CXX) -x c++ $(CXXFLAGS) $(EXTRA) $(SIMT_FLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/ggnn-data-emulated: $(BUILD)/datasets/ggnn_data.o $(BUILD)/emulated/datasets/sample_cuda.o $(SIMT_OBJECTS) $(ARCHIVE)
	$(CXX) $(CXXFLAGS) $(EXTRA) $(if $(OPENMP),-fopenmp) -o $@ $^ $(LDLIBS)
.PHONY: cuda-tests emulated
