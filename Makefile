# ggnn: make | make run | make check | make test | make install | make help.  Needs a C compiler and make; finds and uses what else is there.
#   NODE64=1    64-bit node ids, into build64/        NO_OPENMP=1, NO_ZLIB=1, NO_BLAS=1, NO_MPI=1, NO_METIS=1, NO_NCCL=1   leave one out
#   BUILD=DIR   where everything goes                 EXTRA="..."  further compiler and linker flags (sanitizers)
#   V=1         whole commands, where a short line a file is usual: CC trainer/net/net.c
# Other options than the last time compile again what they change: each compiler's are kept in $(BUILD)/*.flags.
# make bench [BENCH="NAME ... OPTIONS"] | make bench-check: bench/README.md
.DEFAULT_GOAL := all
CC       ?= cc
CXX      ?= c++
NODE64   ?= 0
BUILD    ?= $(if $(filter 1,$(NODE64)),build64,build)
$(if $(filter-out 1,$(words $(BUILD))),$(error BUILD=$(BUILD): make knows no folder with blanks in its name))
PREFIX   ?= /usr/local
OPT      ?= -O2 -g
WARN     := -Wall -Wextra -Wpedantic -Wconversion -Wshadow
EXTRA    ?=

# $(call short,CC,FILE): before a command, in whose place "CC FILE" is printed; V=1: the command itself; make -s: nothing
short = $(if $(filter 1,$(V)),,@$(if $(findstring s,$(firstword -$(MAKEFLAGS))),,echo '$(1) $(2)'; ))

# ---- a warning ends a build by gcc 12 and clang 14, which were tried, alone: other releases may warn of more ----------
major  = $(subst __clang_major__ ,gcc-,$(shell echo __clang_major__ __GNUC__ | $(1) -E -P -x c - 2>/dev/null))
werror = $(if $(filter gcc-12 14,$(firstword $(call major,$(1)))),-Werror)
WARN  += $(call werror,$(CC))

# ---- what this machine has: a test program is compiled for each ------------------------------------------------------
HASH := \#
has = $(shell printf '%s\n' '$(HASH)include <$(1)>' 'int main(void){return 0;}' | $(CC) -x c - -o /dev/null $(2) 2>/dev/null && echo 1)
OPENMP := $(if $(NO_OPENMP),,$(call has,omp.h,-fopenmp))
ZLIB   := $(if $(NO_ZLIB),,$(call has,zlib.h,-lz))
BLAS   := $(if $(NO_BLAS),,$(call has,cblas.h,-lopenblas))
METIS  := $(if $(NO_METIS),,$(call has,metis.h,-lmetis))
# MPI's own words for the compiler: those of Open MPI's mpicc, or what pkg-config knows of MPICH
MPICC      ?= mpicc
mpi_flags   = $(shell $(MPICC) --showme:$(1) 2>/dev/null || pkg-config $(2) mpich 2>/dev/null)
MPI_CFLAGS := $(if $(NO_MPI),,$(patsubst -I%,-isystem %,$(filter -I%,$(call mpi_flags,compile,--cflags))))
MPI_LIBS   := $(if $(NO_MPI),,$(filter -l% -L%,$(call mpi_flags,link,--libs)))
MPI        := $(if $(MPI_LIBS),$(call has,mpi.h,$(MPI_CFLAGS) $(MPI_LIBS)))

CPPFLAGS += -I. -D_GNU_SOURCE $(if $(filter 1,$(NODE64)),-DGGNN_NODE64) $(if $(ZLIB),-DHAVE_ZLIB) $(if $(BLAS),-DHAVE_CBLAS)
CFLAGS   += -std=c99 $(OPT) -ffp-contract=off $(WARN) $(if $(OPENMP),-fopenmp) $(EXTRA)
LDLIBS   += $(if $(ZLIB),-lz) $(if $(BLAS),-lopenblas) -lm -lpthread -lrt
ifeq ($(MPI),1) # only programs that use it depend on it. nvcc knows no -Wl
LDLIBS   += -Xlinker --as-needed $(MPI_LIBS) -Xlinker --no-as-needed
endif
LDLIBS   += $(if $(METIS),-Xlinker --as-needed -lmetis -Xlinker --no-as-needed)

# ---- how objects were compiled: $(BUILD)/NAME.flags holds TEXT, and they are compiled again where it held another one ----
# It is forced only then, so that make -n and make -q tell the truth. $(call keep_flags,NAME,TEXT)
differs = $(subst x$(1),,x$(2))$(subst x$(2),,x$(1))
define keep_flags
$(BUILD)/$(1).flags: $(if $(call differs,$(strip $(2)),$(shell cat $(BUILD)/$(1).flags 2>/dev/null)),FORCE)
	@mkdir -p $$(@D)
	@printf '%s\n' '$(subst ','\'',$(strip $(2)))' > $$@
endef
$(eval $(call keep_flags,cc,$(CC) $(CPPFLAGS) $(CFLAGS) $(MPI_CFLAGS) $(LDLIBS)))

# ---- the tools: everything but the main programs goes into one archive, what only ggnn-bench needs into another -------
MAINS   := datasets/ggnn_data.c trainer/ggnn_train.c bench/ggnn_bench.c
PARTS   := $(filter-out $(MAINS),$(wildcard common/*.c datasets/*.c trainer/*.c trainer/*/*.c))
BENCHES := $(filter-out $(MAINS),$(wildcard bench/*.c bench/cuda/*.c))
TOOLS   := $(patsubst %,$(BUILD)/%,$(if $(wildcard datasets/ggnn_data.c),ggnn-data) $(if $(wildcard trainer/ggnn_train.c),ggnn-train))
ARCHIVE := $(BUILD)/libtools.a
BENCH_ARCHIVE := $(BUILD)/libbench.a
TESTS   := $(addprefix $(BUILD)/tests/,$(basename $(notdir $(wildcard tests/*/test_*.c))))
vpath test_%.c $(wildcard tests/*/)
vpath test_%.cc $(wildcard tests/*/)
vpath cuda_kernels.cc tests/ggnn_cuda/
EXAMPLES := $(BUILD)/train $(if $(call has,math.h,-mfma),$(BUILD)/train-fma)
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))

all: $(TOOLS) # the tools: ggnn-data, ggnn-train
tests: all $(BUILD)/ggnn-bench $(TESTS) $(EXAMPLES)
fuzzers: $(FUZZERS)

$(ARCHIVE): $(PARTS:%.c=$(BUILD)/%.o)
$(BENCH_ARCHIVE): $(BENCHES:%.c=$(BUILD)/%.o)
$(ARCHIVE) $(BENCH_ARCHIVE):
	@rm -f $@
	$(call short,AR,$@)$(AR) qcs $@ $^
$(BUILD)/ggnn-data: $(BUILD)/datasets/ggnn_data.o $(ARCHIVE)
	$(call short,LD,$@)$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/ggnn-train: $(BUILD)/trainer/ggnn_train.o $(ARCHIVE)
	$(call short,LD,$@)$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/tests/%: $(BUILD)/tests/%.o $(ARCHIVE)
	$(call short,LD,$@)$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/tests/test_bench $(BUILD)/tests/test_bench_cache $(BUILD)/tests/test_bench_store $(BUILD)/tests/test_bench_split $(BUILD)/tests/test_bench_scale $(BUILD)/tests/test_bench_peer $(BUILD)/tests/test_bench_compare $(BUILD)/tests/test_bench_lines $(BUILD)/tests/test_bench_with: $(BUILD)/tests/%: $(BUILD)/tests/%.o $(BENCH_ARCHIVE) $(ARCHIVE)
	$(call short,LD,$@)$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
# plug-ins of ggnn-bench: the examples, and one that does wrong, of this version and of an old one
OWN_PLUGINS := $(BUILD)/bench_plugin.so $(BUILD)/bench_limit.so
$(OWN_PLUGINS): $(BUILD)/%.so: examples/%.c
BAD_PLUGINS := $(BUILD)/tests/bad_plugin.so $(addprefix $(BUILD)/tests/bad_plugin.so,.old .cuda)
$(BAD_PLUGINS): tests/bench/bad_plugin.c
$(BUILD)/tests/bad_plugin.so.old: CPPFLAGS += -DBAD_VERSION=0
$(BUILD)/tests/bad_plugin.so.cuda: CPPFLAGS += -DBAD_CUDA=1
$(OWN_PLUGINS) $(BAD_PLUGINS): bench/plugin.h $(BUILD)/cc.flags
	@mkdir -p $(@D)
	$(call short,CC,$<)$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -shared -o $@ $(filter %.c,$^) -lm
$(BUILD)/tests/test_bench_plugin: | $(BUILD)/ggnn-bench $(BAD_PLUGINS) $(OWN_PLUGINS)
$(BUILD)/fuzz/%: $(BUILD)/tests/fuzz/%.o $(ARCHIVE)
	@mkdir -p $(@D)
	$(call short,LD,$@)$(CC) $(CFLAGS) $(if $(LIBFUZZER),-fsanitize=fuzzer) -o $@ $^ $(LDLIBS)
$(BUILD)/tests/fuzz/%.o: CPPFLAGS += $(if $(LIBFUZZER),-DFUZZ_LIBFUZZER)
$(BUILD)/trainer/cpu/elementwise.o $(BUILD)/trainer/cpu/loss.o $(BUILD)/trainer/cpu/optimiser.o $(BUILD)/trainer/net/loss.o: CFLAGS += -O3 -fno-math-errno -fno-trapping-math
$(BUILD)/datasets/metis.o $(BUILD)/bench/bench_split.o: CPPFLAGS += $(if $(METIS),-DHAVE_METIS)
$(BUILD)/trainer/ranks/comm_mpi.o $(BUILD)/tests/test_mpi.o: CPPFLAGS += $(if $(MPI),-DHAVE_MPI $(MPI_CFLAGS))
$(BUILD)/%.o: %.c $(BUILD)/cc.flags
	@mkdir -p $(@D)
	$(call short,CC,$<)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/tests/%.o: %.c $(BUILD)/cc.flags # of tests/ROOM/
	@mkdir -p $(@D)
	$(call short,CC,$<)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# ---- examples/train.c, which needs no archive: as its first lines say, and with -mfma where the compiler knows that -------
# with sanitizers ggnn.h takes long to compile: its vectors, which have the plain loops' bits, then stand in the library alone
$(BUILD)/examples/train.o $(BUILD)/examples/train-fma.o $(BUILD)/tests/test_pool.o: CPPFLAGS += $(if $(findstring -fsanitize,$(EXTRA)),-DGGNN_NO_SIMD)
$(BUILD)/examples/train-fma.o: CFLAGS += -mfma
$(BUILD)/examples/train-fma.o: examples/train.c $(BUILD)/cc.flags
	@mkdir -p $(@D)
	$(call short,CC,$<)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/train $(BUILD)/train-fma: $(BUILD)/%: $(BUILD)/examples/%.o
	$(call short,LD,$@)$(CC) $(CFLAGS) -o $@ $^ -lm
$(BUILD)/tests/test_train_example: | $(EXAMPLES) # which it runs

# ---- make bench: what the machine gives, and every operation against it ----------------------------------------------
bench: $(BUILD)/ggnn-bench # every operation against the machine's roofs; BENCH="NAME ... OPTIONS"
	$(BUILD)/ggnn-bench $(BENCH)
bench-check: $(BUILD)/ggnn-bench # what lost a tenth of its share of the roof since the committed results
	$(BUILD)/ggnn-bench --check bench/results $(BENCH)
bench-rivals: all $(BUILD)/ggnn-bench # bench/rivals/README.md: DGL, PyG, torch, SciPy on the same work
	python3 -B bench/rivals/run.py --build $(BUILD) $(RIVALS)
$(BUILD)/ggnn-bench: $(BUILD)/bench/ggnn_bench.o $(BENCH_ARCHIVE) $(ARCHIVE)
	$(call short,LD,$@)$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/bench/naive.o: CFLAGS += -O3
$(BUILD)/bench/machine.o: CPPFLAGS += -I$(BUILD)
$(BUILD)/bench/machine.o: $(BUILD)/bench_version.h
$(BUILD)/bench/scale_inputs.o: CPPFLAGS += -I$(BUILD)
$(BUILD)/bench/scale_inputs.o: $(BUILD)/bench_scale_inputs.h
$(BUILD)/bench_scale_inputs.h: bench/scale_inputs.csv
	@mkdir -p $(@D)
	@{ echo 'static const char* const own_line[] = {'; sed 's/[\"]/\&/g; s/.*/    "&",/' $<; echo '};'; } > $@.new && mv $@.new $@
$(BUILD)/bench_version.h: FORCE
	@mkdir -p $(@D)
	@printf '#define BENCH_%s "%s"\n' GIT "$$(git describe --always --dirty --tags 2>/dev/null)" \
	    FLAGS "$(CC) $(CFLAGS)" > $@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@
FORCE:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

include simt/simt.mk # make cuda-tests: the CUDA code on the CPU

# ---- make gpu: the programs on a GPU, by nvcc -------------------------------------------------------------------------
NVCC      ?= $(firstword $(shell command -v nvcc) /usr/local/cuda/bin/nvcc)
GPU_ARCH  ?= -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90]
NVCC_TRIED := 13.0 # a warning ends a build by these releases alone: others may warn of more
NVCC_IS    := $(shell $(NVCC) --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
NVCCFLAGS += -std=c++17 -O2 $(GPU_ARCH) --threads 0 -Xcompiler -Wall,-Wextra$(if $(OPENMP),$(COMMA)-fopenmp)
NVCCFLAGS += $(if $(filter $(NVCC_TRIED),$(NVCC_IS)),-Werror all-warnings)
COMMA     := ,
# NCCL, for gradients and rows between GPUs: the CUDA toolkit's, the system's, or that of the package nvidia-nccl-cu12 or
# -cu13 in the Python environment; NCCL_HOME=FOLDER says where its include/ and lib/ are
NCCL_PLACES := $(abspath $(dir $(NVCC))..) /usr/local/cuda /usr $(wildcard $(foreach d,$(VIRTUAL_ENV) $(HOME)/.local,$(d)/lib/python3*/site-packages/nvidia/nccl))
NCCL_HOME   ?= $(patsubst %/include/nccl.h,%,$(firstword $(wildcard $(addsuffix /include/nccl.h,$(NCCL_PLACES)))))
NCCL_LIB    := $(if $(NO_NCCL),,$(firstword $(wildcard $(NCCL_HOME)/lib/libnccl.so.2 $(NCCL_HOME)/lib64/libnccl.so.2 $(NCCL_HOME)/lib/*/libnccl.so.2)))
NCCL_OBJECT := $(if $(NCCL_LIB),$(BUILD)/cuda/trainer/cuda/comm_nccl.o)
NCCL_LIBS   := $(if $(NCCL_LIB),-Xlinker $(NCCL_LIB) -Xlinker -rpath=$(abspath $(dir $(NCCL_LIB))))
CUSPARSE    := $(wildcard $(dir $(NVCC))../include/cusparse.h)
$(eval $(call keep_flags,nvcc,$(NVCC) $(CPPFLAGS) $(NVCCFLAGS) $(NCCL_HOME) $(CUSPARSE)))

gpu: $(BUILD)/ggnn-data-cuda $(BUILD)/ggnn-train-cuda $(BUILD)/ggnn-bench-cuda # the tools with the CUDA backend
$(BUILD)/cuda/%.o: %.cu $(BUILD)/nvcc.flags
	@mkdir -p $(@D)
	@command -v $(NVCC) >/dev/null || { echo "nvcc is not installed: NVCC=PATH says where it is, make emulated needs none"; exit 1; }
	$(call short,NVCC,$<)$(NVCC) $(CPPFLAGS) $(NVCCFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/ggnn-data-cuda: $(BUILD)/datasets/ggnn_data.o $(BUILD)/cuda/datasets/sample_cuda.o $(ARCHIVE)
	$(call short,LD,$@)$(NVCC) $(NVCCFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/ggnn-train-cuda: $(BUILD)/trainer/ggnn_train.o $(BUILD)/cuda/trainer/cuda/ops.o $(NCCL_OBJECT) $(ARCHIVE)
	$(call short,LD,$@)$(NVCC) $(NVCCFLAGS) -o $@ $^ -lcublas $(NCCL_LIBS) $(LDLIBS)
nccl-flags:
	@echo $(if $(NCCL_LIB),-isystem $(NCCL_HOME)/include $(NCCL_LIBS))
$(BUILD)/cuda/trainer/cuda/comm_nccl.o: CPPFLAGS += -isystem $(NCCL_HOME)/include

# make gpu-bench: what this GPU gives, and every operation against it; cuSPARSE beside it where the toolkit has it
$(BUILD)/cuda/bench/%.o: CPPFLAGS += $(if $(CUSPARSE),-DHAVE_CUSPARSE)
$(BUILD)/cuda/bench/%.o: NVCCFLAGS += -Xcompiler -Wno-maybe-uninitialized # CUB's, in its scan of a whole array
$(BUILD)/cuda/bench/%.o: NVCCFLAGS += -diag-suppress 1675 # pragmas of ggnn_reference.h, which nvcc hands on to GCC
$(BUILD)/ggnn-bench-cuda: $(BUILD)/bench/ggnn_bench.o $(BUILD)/cuda/bench/cuda/backend.o $(BUILD)/cuda/trainer/cuda/ops.o \
                          $(NCCL_OBJECT) $(BENCH_ARCHIVE) $(ARCHIVE)
	$(call short,LD,$@)$(NVCC) $(NVCCFLAGS) -o $@ $^ -lcublas $(NCCL_LIBS) $(if $(CUSPARSE),-lcusparse) $(LDLIBS)

# the tests of ggnn_cuda.cuh by nvcc, and what they and test_show start: make gpu-test runs them; without a GPU they say
# that they skip
GPU_TESTS := $(addprefix $(BUILD)/gpu-tests/,$(basename $(notdir $(wildcard tests/*/test_cuda_*.cc))))
# nvcc hands the host's compiler conditions with fewer parentheses, knows no pragma of GCC's that ggnn_reference.h has (1675),
# and sees no use of what the emulator alone is asked for (177)
$(BUILD)/cuda/tests/%.o: NVCCFLAGS += -diag-suppress 1675,177 -Xcompiler -Wno-parentheses,-Wno-unused-parameter
gpu-tests: $(GPU_TESTS) $(BUILD)/tests/test_show $(BUILD)/ggnn-data-cuda $(TOOLS)
$(BUILD)/cuda/tests/%.o: %.cc $(BUILD)/nvcc.flags
	@mkdir -p $(@D)
	$(call short,NVCC,$<)$(NVCC) -x cu $(CPPFLAGS) $(NVCCFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/gpu-tests/%: $(BUILD)/cuda/tests/%.o $(ARCHIVE)
	@mkdir -p $(@D)
	$(call short,LD,$@)$(NVCC) $(NVCCFLAGS) -o $@ $(filter %.o,$^) $(ARCHIVE) -lcublas $(if $(filter %/comm_nccl.o,$^),$(NCCL_LIBS)) $(LDLIBS)
$(addprefix $(BUILD)/gpu-tests/,$(CUDA_API_TESTS)): $(BUILD)/cuda/tests/cuda_kernels.o
# those of the trainer's backend, by their folder
$(addprefix $(BUILD)/gpu-tests/,$(basename $(notdir $(wildcard tests/cuda/test_cuda_*.cc)))): $(BUILD)/cuda/trainer/cuda/ops.o
$(BUILD)/gpu-tests/test_cuda_train: $(TOOLS) $(BUILD)/ggnn-train-cuda $(EXAMPLES) $(BUILD)/train-cuda
$(BUILD)/train-cuda: $(BUILD)/cuda/examples/train.o
	$(call short,LD,$@)$(NVCC) $(NVCCFLAGS) -o $@ $^ -lm
$(BUILD)/gpu-tests/test_cuda_nccl $(BUILD)/gpu-tests/test_cuda_split: $(NCCL_OBJECT)
gpu-test gpu-sanitize: # the tests on the GPU; gpu-sanitize: under compute-sanitizer
	@BUILD="$(BUILD)" NVCC="$(NVCC)" bash tests/gpu.sh $(@:gpu-%=%)
gpu-bench: # every operation against the GPU's roofs; BENCH as for make bench
	@BUILD="$(BUILD)" NVCC="$(NVCC)" bash tests/gpu.sh bench $(BENCH)
gpu-kit: # build/gpu-kit.tar.xz: all this for a machine with a GPU and without nvcc; GPU_ARCH="-gencode ..."
	@BUILD="$(BUILD)" NVCC="$(NVCC)" $(if $(filter-out file,$(origin GPU_ARCH)),GPU_ARCH="$(GPU_ARCH)") bash tests/gpu.sh kit
gpu-check: # all that a GPU is needed for, each part under seven minutes; a part that fails stops no other
	@failed=; for part in gpu-test gpu-bench gpu-sanitize; do $(MAKE) $$part || failed="$$failed $$part"; done; \
	    [ -z "$$failed" ] || { echo "gpu-check: failed:$$failed"; exit 1; }

cuda: # every kernel by nvcc: warnings, spills, registers
	@bash tests/cuda.sh

# ---- the two commands ------------------------------------------------------------------------------------------------
run: all # make a graph, train GraphSAGE on it
	$(BUILD)/ggnn-data generate planted $(BUILD)/planted.ggnn
	$(BUILD)/ggnn-train --data $(BUILD)/planted.ggnn --model sage --layers 3 --hidden 64 --fanout 10,5,5 --epochs 10

check: # three minutes on two cores, after each edit; TEST=test_sample, TEST=test_sample:NAME: that one alone
	@CC="$(CC)" bash tests/run.sh check $(TEST)
test: # every test, in the forms that find most: under ten minutes on two cores
	@CC="$(CC)" bash tests/run.sh test
test-all: # tests that take seconds and the slower forms too: no OpenMP, 64-bit ids, thread sanitizers, other orders of CUDA threads
	@CC="$(CC)" bash tests/run.sh all
aarch64: # the headers' tests and the tools on aarch64, cross-built, by qemu-user: the same bits as here
	@CC="$(CC)" bash tests/run.sh aarch64

fuzz: # libFuzzer (clang) over every parser, or FUZZ="csv npz"; FUZZ_RUNS=100000 inputs each, what it learns is kept in build/
	@bash tests/fuzz.sh $(FUZZ)

mutate: tests # does every break that tests/mutations.txt and tests/mutations_c.txt list fail a test? BREAKS="NAME ..."
	@BUILD=$(BUILD) CC="$(CC)" CXX="$(CXX)" CFLAGS="$(CPPFLAGS) $(if $(METIS),-DHAVE_METIS) $(if $(MPI),-DHAVE_MPI $(MPI_CFLAGS)) $(CFLAGS)" LDLIBS="$(LDLIBS)" bash tests/mutate.sh $(BREAKS)

docs: # build/API.html: the headers' contracts on one page, a link for each function. Needs Python
	python3 -B docs/api.py $(BUILD)/API.html

show: # what was found
	@echo "OpenMP: $(if $(OPENMP),yes,no)  zlib: $(if $(ZLIB),yes,no)  CBLAS: $(if $(BLAS),yes,no)  MPI: $(if $(MPI),yes,no)  METIS: $(if $(METIS),yes,no)  NCCL: $(if $(NCCL_LIB),yes,no)"

help: # the targets
	@sed -n 's/^\([a-z][a-z0-9 -]*\):[^=]*# \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | sort | while IFS='|' read -r name what; do printf '  %-22s %s\n' "$$name" "$$what"; done

# ---- make install [DESTDIR=] [PREFIX=/usr/local], make dist ----------------------------------------------------------
VERSION := $(shell sed -n 's/^.define GGNN_VERSION "\(.*\)"/\1/p' ggnn.h)
install: all install-headers # headers, tools, files for CMake and pkg-config; DESTDIR=, PREFIX=/usr/local
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install $(TOOLS) "$(DESTDIR)$(PREFIX)/bin"
install-headers: # the same without the tools: nothing is compiled
	sh packaging/install.sh "$(DESTDIR)$(PREFIX)" $(VERSION)
dist: # build/dist: each header alone, the source archive, SHA256SUMS
	@bash packaging/dist.sh $(BUILD)/dist $(VERSION)

clean:
	rm -rf build build64
.PHONY: all tests fuzzers bench bench-check bench-rivals gpu gpu-tests gpu-test gpu-sanitize gpu-bench gpu-kit gpu-check cuda run check test test-all aarch64 fuzz docs mutate show nccl-flags help install install-headers dist clean FORCE
.SECONDARY:
