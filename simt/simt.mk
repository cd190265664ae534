# simt.mk - the CUDA code on the CPU: `make cuda-tests` builds all tests/*/test_cuda_*.cc and the emulator's own test with a
# C++17 compiler alone. Where the CUDA toolkit's headers are found, NVIDIA's own Philox is compiled; NO_CURAND=1: ours.
CXX          ?= c++
SIMT         := simt
CUDA_HOME    ?= $(patsubst %/bin/nvcc,%,$(shell command -v nvcc 2>/dev/null))
SIMT_CURAND  := $(if $(NO_CURAND),,$(wildcard $(CUDA_HOME)/include/curand_kernel.h))
SIMT_OBJECTS := $(patsubst $(SIMT)/%.cc,$(BUILD)/simt/%.o,$(wildcard $(SIMT)/simt_*.cc))
CUDA_TESTS   := $(addprefix $(BUILD)/tests/,$(basename $(notdir $(wildcard tests/*/test_cuda_*.cc)))) $(BUILD)/tests/test_simt
SIMT_FLAGS   := -I$(SIMT) -I. -D_GNU_SOURCE $(if $(filter 1,$(NODE64)),-DGGNN_NODE64) \
                $(if $(SIMT_CURAND),-DSIMT_CURAND -idirafter $(CUDA_HOME)/include)
CXXOPT       ?= $(OPT)
CXXFLAGS     += -std=c++17 $(CXXOPT) -ffp-contract=off -Wall -Wextra $(call werror,$(CXX)) -Wno-unknown-pragmas -MMD -MP
$(eval $(call keep_flags,cxx,$(CXX) $(CXXFLAGS) $(EXTRA) $(SIMT_FLAGS)))

cuda-tests: $(CUDA_TESTS)

# The core takes no sanitizer: it calls their hooks in programs that have them.
$(BUILD)/simt/%.o: $(SIMT)/%.cc $(BUILD)/cxx.flags
	@mkdir -p $(@D)
	$(call short,CXX,$<)$(CXX) $(CXXFLAGS) $(filter-out -fsanitize% -fno-sanitize%,$(EXTRA)) -O2 $(SIMT_FLAGS) -c -o $@ $<
# Kernels of templates: compiling them takes longer than running them. Tests that use the API alone share one object of them.
CUDA_API_TESTS := $(addprefix test_cuda_,arguments attention block dist edge spmm)
$(addprefix $(BUILD)/tests/,$(CUDA_API_TESTS)): $(BUILD)/tests/cuda_kernels.o
$(BUILD)/tests/test_cuda_%.o $(BUILD)/tests/cuda_kernels.o: CXXOPT := -Og -g1
$(BUILD)/tests/cuda_kernels.o: cuda_kernels.cc $(BUILD)/cxx.flags
	@mkdir -p $(@D)
	$(call short,CXX,$<)$(CXX) $(CXXFLAGS) $(EXTRA) $(SIMT_FLAGS) -c -o $@ $<
$(BUILD)/tests/test_cuda_%.o: test_cuda_%.cc $(BUILD)/cxx.flags
	@mkdir -p $(@D)
	$(call short,CXX,$<)$(CXX) $(CXXFLAGS) $(EXTRA) $(SIMT_FLAGS) -c -o $@ $<
$(BUILD)/tests/test_simt.o: test_simt.cc $(BUILD)/cxx.flags
	@mkdir -p $(@D)
	$(call short,CXX,$<)$(CXX) $(CXXFLAGS) $(EXTRA) $(SIMT_FLAGS) -c -o $@ $<
$(BUILD)/tests/test_cuda_%: $(BUILD)/tests/test_cuda_%.o $(SIMT_OBJECTS) $(ARCHIVE)
	$(call short,LD,$@)$(CXX) $(CXXFLAGS) $(EXTRA) $(if $(OPENMP),-fopenmp) -o $@ $(filter %.o,$^) $(ARCHIVE) $(LDLIBS)
# which runs the programs too
$(BUILD)/tests/test_cuda_nccl $(BUILD)/tests/test_cuda_split: $(BUILD)/emulated/trainer/cuda/ops.o $(BUILD)/emulated/trainer/cuda/comm_nccl.o
$(BUILD)/tests/test_cuda_steps: $(BUILD)/emulated/trainer/cuda/ops.o
$(BUILD)/tests/test_cuda_train: $(BUILD)/emulated/trainer/cuda/ops.o $(BUILD)/ggnn-data $(BUILD)/ggnn-train $(BUILD)/ggnn-train-emulated $(EXAMPLES) $(BUILD)/train-emulated
$(BUILD)/tests/test_simt: $(BUILD)/tests/test_simt.o $(SIMT_OBJECTS)
	$(call short,LD,$@)$(CXX) $(CXXFLAGS) $(EXTRA) -o $@ $^

# ---- programs whose backend is the emulator
emulated: $(BUILD)/ggnn-data-emulated $(BUILD)/ggnn-train-emulated $(BUILD)/ggnn-bench-emulated $(BUILD)/vendor-emulated $(BUILD)/peers-emulated $(BUILD)/train-emulated # the tools, CUDA emulated on the CPU
$(BUILD)/emulated/%.o: CXXOPT := -O1 -g1
$(BUILD)/emulated/%.o: %.cu $(BUILD)/cxx.flags
	@mkdir -p $(@D)
	$(call short,CXX,$<)$(CXX) -x c++ $(CXXFLAGS) $(EXTRA) $(SIMT_FLAGS) -c -o $@ $<
$(BUILD)/vendor-emulated $(BUILD)/peers-emulated: $(BUILD)/%-emulated: $(BUILD)/emulated/examples/%.o $(SIMT_OBJECTS) $(ARCHIVE)
	$(call short,LD,$@)$(CXX) $(CXXFLAGS) $(EXTRA) $(if $(OPENMP),-fopenmp) -o $@ $^ $(LDLIBS)
$(BUILD)/train-emulated: $(BUILD)/emulated/examples/train.o $(SIMT_OBJECTS) # needs no archive
	$(call short,LD,$@)$(CXX) $(CXXFLAGS) $(EXTRA) $(if $(OPENMP),-fopenmp) -o $@ $^ -lm -lpthread
$(BUILD)/ggnn-data-emulated: $(BUILD)/datasets/ggnn_data.o $(BUILD)/emulated/datasets/sample_cuda.o $(SIMT_OBJECTS) $(ARCHIVE)
	$(call short,LD,$@)$(CXX) $(CXXFLAGS) $(EXTRA) $(if $(OPENMP),-fopenmp) -o $@ $^ $(LDLIBS)

$(BUILD)/ggnn-train-emulated: $(BUILD)/trainer/ggnn_train.o $(BUILD)/emulated/trainer/cuda/ops.o \
                              $(BUILD)/emulated/trainer/cuda/comm_nccl.o $(SIMT_OBJECTS) $(ARCHIVE)
	$(call short,LD,$@)$(CXX) $(CXXFLAGS) $(EXTRA) $(if $(OPENMP),-fopenmp) -o $@ $^ $(LDLIBS)

# ggnn-bench on the emulator: whether its CUDA side is right. Its times mean nothing.
$(BUILD)/emulated/bench/%.o: CXXOPT := -Og -g1
$(BUILD)/ggnn-bench-emulated: $(BUILD)/bench/ggnn_bench.o $(BUILD)/emulated/bench/cuda/backend.o \
                              $(BUILD)/emulated/trainer/cuda/ops.o $(BUILD)/emulated/trainer/cuda/comm_nccl.o $(SIMT_OBJECTS) $(BENCH_ARCHIVE) $(ARCHIVE)
	$(call short,LD,$@)$(CXX) $(CXXFLAGS) $(EXTRA) $(if $(OPENMP),-fopenmp) -rdynamic -o $@ $^ $(LDLIBS)
# A plug-in of it finds the emulator in the program that opens it.
$(BUILD)/bench_plugin-emulated.so: examples/bench_plugin.cu bench/plugin.h $(BUILD)/cxx.flags
	$(call short,CXX,$<)$(CXX) -x c++ $(CXXFLAGS) $(EXTRA) $(SIMT_FLAGS) -MF $(@:.so=.d) -fPIC -shared -o $@ $<

# The emulator's own test, as it is and under the sanitizers.
test-simt: # the emulator itself, plain and under the sanitizers
	$(MAKE) BUILD=$(BUILD) $(BUILD)/tests/test_simt
	$(MAKE) BUILD=$(BUILD)/asan OPT="-O1 -g1" EXTRA="-fsanitize=address,undefined -fno-sanitize-recover=undefined" \
	    $(BUILD)/asan/tests/test_simt
	$(MAKE) BUILD=$(BUILD)/tsan OPT="-O1 -g1" EXTRA="-fsanitize=thread" $(BUILD)/tsan/tests/test_simt
	$(BUILD)/tests/test_simt && $(BUILD)/asan/tests/test_simt && $(BUILD)/tsan/tests/test_simt
.PHONY: cuda-tests emulated test-simt
