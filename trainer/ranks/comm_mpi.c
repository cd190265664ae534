/* comm_mpi.c - ranks that are processes, on one machine or on several. MPI brings words and pieces; whether all live is
   heartbeat.h's matter. MPI's calls are made by one thread for each line: the main thread, and who has a branch. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trainer/ranks/comm_engine.h"

/* What mpirun of Open MPI, that of MPICH, and srun tell a process. One that is started alone gets none of them. */
bool comm_under_mpi(void)
{
    static const char* const told[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        const char* size = getenv(told[i]);
        if (size && atoi(size) > 1) return true;
    }
    return false;
}

#ifndef HAVE_MPI
const char* comm_mpi_name(void) { return NULL; }

bool comm_open_mpi(comm* c, const volatile sig_atomic_t* stop, error* why)
{
    comm_open_alone(c, stop);
    return error_set(why, "started by mpirun, but built without MPI: install openmpi-bin and libopenmpi-dev, and run make again");
}

void comm_close_mpi(comm* c, bool failed) { (void)c, (void)failed; }

#else
#include <mpi.h>

#include "common/memory.h"
#include "trainer/ranks/heartbeat.h"
#include "trainer/ranks/patience.h"

enum { ROWS, ALARM }; /* tags of messages */

typedef struct { /* of a process: who and where it is */
    char host[64];
    int64_t process;
    uint64_t place[7]; /* alike where processes can share memory */
    int32_t first;     /* rank in MPI's world of the first process of this machine */
} identity;

typedef struct {
    MPI_Comm ranks;      /* those of a machine follow each other */
    comm_word* word;     /* (ranks) */
    MPI_Request* request; /* (2 ranks) */
    identity* who;       /* (ranks) */
    heartbeat* heartbeat; /* NULL: a branch, whose ranks those of the first line watch */
    int level;           /* of threads that may call MPI */
    error failed;        /* of this rank, to be told */
    device* device;      /* of `stage` */
    char* stage[2];      /* memory of the host for rows of a device: sent, received. It goes with the process, as the
                            device may have gone before */
    size_t staged[2];
    int64_t largest;     /* bytes of one message */
    char name[96];
} processes;

static processes* own(const comm* c) { return c->own; }

const char* comm_mpi_name(void)
{
    static char name[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    if (MPI_Get_library_version(name, &length) != MPI_SUCCESS) return "MPI";
    name[strcspn(name, ",\n")] = 0;
    return name;
}

/* MPI fails where a process is lost: then the heartbeat's thread says who, and ends this process. */
static bool mpi_failed(const char* what, int code, error* why)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    for (unsigned left = 8; left > 0;) left = sleep(left); /* a signal interrupts it */
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) text[0] = 0;
    return error_set(why, "MPI: %s: %s", what, text);
}

/* ==== words ===================================================================================================== */

/* Where a device's memory is not the host's, rows go through `stage`. */
static bool is_elsewhere(const comm_transfer* t) { return t->device && device_read(t->device, NULL, t->from, 0) != t->from; }

static bool grow_stage(processes* m, const comm* c, const comm_transfer* t, error* why)
{
    size_t bytes[2] = {0, 0};
    for (int32_t r = 0; r < c->ranks; r++) {
        if (r == c->rank) continue;
        bytes[0] += comm_bytes(t, t->from_piece[r]);
        bytes[1] += comm_bytes(t, t->to_piece[r]);
    }
    for (int i = 0; i < 2; i++) {
        if (bytes[i] <= m->staged[i]) continue;
        if (m->stage[i]) device_free_host(m->device, m->stage[i]);
        m->device = t->device;
        m->staged[i] = 0;
        m->stage[i] = device_new_host(t->device, bytes[i], "rows between processes", why);
        if (!m->stage[i]) return false;
        m->staged[i] = bytes[i];
    }
    return true;
}

static const comm_word* meet(comm* c, const comm_word* mine, const comm_transfer* t, const error* failed, error* why)
{
    processes* m = own(c);
    comm_word word = *mine;
    if (failed) m->failed = *failed;
    else if (t && is_elsewhere(t) && !grow_stage(m, c, t, why)) {
        error_set(&m->failed, "%s: %s", c->name, why->text);
        word.state = COMM_FAILED;
    }
    int e = MPI_Allgather(&word, (int)sizeof word, MPI_BYTE, m->word, (int)sizeof word, MPI_BYTE, m->ranks);
    if (e == MPI_SUCCESS) return m->word;
    mpi_failed("words", e, why);
    return NULL;
}

static void reason(comm* c, int32_t rank, error* failed)
{
    processes* m = own(c);
    *failed = m->failed;
    int e = MPI_Bcast(failed, (int)sizeof *failed, MPI_BYTE, rank, m->ranks);
    if (e != MPI_SUCCESS) mpi_failed("a message", e, failed);
}

/* ==== pieces ==================================================================================================== */

typedef struct {
    char* at; /* as MPI reads or writes it */
    int64_t bytes;
} message;

/* Round k: of each message its k-th part. False when there is none any more. */
static bool post(processes* m, const comm* c, int64_t round, const message* out, const message* in, int* e)
{
    int posted = 0;
    const int64_t begin = round * m->largest;
    for (int32_t i = 1; i < c->ranks; i++) {
        const int32_t r = (c->rank + c->ranks - i) % c->ranks;
        const int64_t left = in[r].bytes - begin;
        if (left <= 0 || *e != MPI_SUCCESS) continue;
        *e = MPI_Irecv(in[r].at + begin, (int)(left < m->largest ? left : m->largest), MPI_BYTE, r, ROWS, m->ranks, &m->request[posted++]);
    }
    for (int32_t i = 1; i < c->ranks; i++) {
        const int32_t r = (c->rank + i) % c->ranks;
        const int64_t left = out[r].bytes - begin;
        if (left <= 0 || *e != MPI_SUCCESS) continue;
        *e = MPI_Isend(out[r].at + begin, (int)(left < m->largest ? left : m->largest), MPI_BYTE, r, ROWS, m->ranks, &m->request[posted++]);
    }
    if (posted && *e == MPI_SUCCESS) *e = MPI_Waitall(posted, m->request, MPI_STATUSES_IGNORE);
    return posted > 0 && *e == MPI_SUCCESS;
}

static void place(message* out, message* in, processes* m, const comm* c, const comm_transfer* t, bool elsewhere)
{
    size_t at[2] = {0, 0};
    for (int32_t r = 0; r < c->ranks; r++) {
        const size_t sent = r == c->rank ? 0 : comm_bytes(t, t->from_piece[r]), got = r == c->rank ? 0 : comm_bytes(t, t->to_piece[r]);
        /* MPI only reads what it sends */
        out[r] = (message){elsewhere ? m->stage[0] + at[0] : (char*)(uintptr_t)t->from + comm_offset(t, t->from_piece[r]), (int64_t)sent};
        in[r] = (message){elsewhere ? m->stage[1] + at[1] : t->to + comm_offset(t, t->to_piece[r]), (int64_t)got};
        at[0] += sent;
        at[1] += got;
    }
}

static bool move(comm* c, const comm_transfer* t, error* why)
{
    processes* m = own(c);
    message out[COMM_RANKS_MAX], in[COMM_RANKS_MAX];
    const bool elsewhere = is_elsewhere(t);
    int e = MPI_SUCCESS;
    place(out, in, m, c, t, elsewhere);
    for (int32_t r = 0; elsewhere && r < c->ranks; r++)
        device_download(t->device, out[r].at, t->from + comm_offset(t, t->from_piece[r]), (size_t)out[r].bytes);
    for (int64_t round = 0; post(m, c, round, out, in, &e);) round++;
    for (int32_t r = 0; elsewhere && r < c->ranks; r++)
        device_upload(t->device, t->to + comm_offset(t, t->to_piece[r]), in[r].at, (size_t)in[r].bytes);
    return e == MPI_SUCCESS || mpi_failed("rows", e, why);
}

/* ==== the alarm: a message without bytes, that none takes ======================================================= */

static void raise_alarm(comm* c)
{
    MPI_Request sent;
    for (int32_t r = 0; r < c->ranks; r++)
        if (r != c->rank && MPI_Isend(NULL, 0, MPI_BYTE, r, ALARM, own(c)->ranks, &sent) == MPI_SUCCESS) MPI_Request_free(&sent);
}

static bool alarmed(comm* c)
{
    int heard = 0;
    return MPI_Iprobe(MPI_ANY_SOURCE, ALARM, own(c)->ranks, &heard, MPI_STATUS_IGNORE) == MPI_SUCCESS && heard;
}

/* ==== shared memory: a file in /dev/shm that never has a name, so that none stays behind ========================= */

typedef struct { /* of a part */
    int file; /* open in its process while the others map it */
    size_t bytes;
} shared_file;

static void* make_file(shared_file* f, const char* what, error* why)
{
    f->file = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    int e = f->file < 0 ? errno : EINTR;
    while (e == EINTR) e = posix_fallocate(f->file, 0, (off_t)f->bytes); /* a page that is not there later would kill */
    void* memory = e ? MAP_FAILED : mmap(NULL, f->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, f->file, 0);
    if (!e && memory == MAP_FAILED) e = errno;
    if (!e) return memory;
    error_set(why, "shared memory in /dev/shm: %zu bytes for %s: %s", f->bytes, what, strerror(e));
    return NULL;
}

static void give_back(comm* c, comm_shared* s)
{
    for (int32_t k = 0; k < c->locals; k++)
        if (s->part[k]) munmap(s->part[k], s->bytes[k]);
}

/* All ranks of all machines make these calls. */
static bool map_all(comm* c, comm_shared* s, shared_file* file, const char* what, error* why)
{
    if (!comm_gather_each(c, file, sizeof *file, why)) return false;
    const int32_t first = c->rank - c->local;
    for (int32_t k = 0; k < c->locals; k++) {
        const shared_file* f = &file[first + k];
        s->bytes[k] = f->bytes;
        if (k != c->local && f->bytes && !(s->part[k] = comm_map_file(own(c)->who[first + k].process, f->file, f->bytes, what, why))) return false;
    }
    return comm_barrier(c, why);
}

static bool share(comm* c, comm_shared* s, const char* what, error* why)
{
    const size_t bytes = s->bytes[c->local];
    shared_file* file = memory_new((size_t)c->ranks * sizeof *file, what, why);
    if (!file) return false;
    s->own = c->own;
    file[c->rank] = (shared_file){-1, bytes};
    bool good = !bytes || (s->part[c->local] = make_file(&file[c->rank], what, why));
    good = good && map_all(c, s, file, what, why);
    if (file[c->rank].file >= 0) close(file[c->rank].file);
    memory_free(file);
    return good;
}

static bool branch(comm* to, comm* c, error* why);
static void close_branch(comm* c);
static const comm_engine mpi_engine = {true, meet, reason, move, share, give_back, branch, close_branch, raise_alarm, alarmed};

/* ==== who is where ============================================================================================== */

static uint64_t number_of(const char* path, bool of_device)
{
    struct stat s;
    return stat(path, &s) == 0 ? (uint64_t)(of_device ? s.st_dev : s.st_ino) : 0;
}

/* Processes of one machine have one kernel, one set of names and of processes, and one /dev/shm. */
static identity identity_here(void)
{
    identity i = {.process = getpid()};
    FILE* boot = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (boot) {
        if (fread(i.place, 1, 2 * sizeof *i.place, boot) == 0) i.place[0] = 0;
        fclose(boot);
    }
    if (gethostname(i.host, sizeof i.host - 1) != 0) strcpy(i.host, "?");
    i.place[2] = number_of("/proc/self/ns/uts", false);
    i.place[3] = number_of("/proc/self/ns/ipc", false);
    i.place[4] = number_of("/proc/self/ns/net", false);
    i.place[5] = number_of("/proc/self/ns/pid", false);
    i.place[6] = number_of("/dev/shm", true);
    return i;
}

static bool same_place(const identity* a, const identity* b)
{
    return !strcmp(a->host, b->host) && !memcmp(a->place, b->place, sizeof a->place);
}

/* MPI may number ranks across the machines; ours go machine by machine. */
static int number_ranks(processes* m, int32_t world_rank, int32_t ranks)
{
    identity* who = m->who;
    int32_t rank = 0;
    for (int32_t r = 0; r < ranks; r++) {
        who[r].first = r;
        for (int32_t q = 0; q < r && who[r].first == r; q++)
            if (same_place(&who[q], &who[r])) who[r].first = q;
    }
    const int32_t first = who[world_rank].first;
    for (int32_t r = 0; r < ranks; r++)
        rank += who[r].first < first || (who[r].first == first && r < world_rank);
    return MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &m->ranks);
}

static void find_machine(comm* c)
{
    const identity* who = own(c)->who;
    for (int32_t r = 0; r < c->ranks; r++) {
        const bool begins = r == 0 || who[r].first != who[r - 1].first, here = who[r].first == who[c->rank].first;
        c->machines += begins;
        if (begins && r <= c->rank) c->machine = c->machines - 1;
        c->locals += here;
        c->local += here && r < c->rank;
    }
}

static void title(const void* context, int32_t rank, char text[160])
{
    const processes* m = context;
    snprintf(text, 160, "rank %d (host %s, process %lld)", (int)rank, m->who[rank].host, (long long)m->who[rank].process);
}

/* ==== opening, closing ========================================================================================== */

/* What this program asks of Open MPI, unless the user asks for something else. Ranks that wait for each other give their core
   away, where there are not enough. Messages within a machine go through shared memory: reading the memory of a process
   that was killed (CMA) would end the reader before it has said what happened. */
static void configure(void)
{
    const char* locals = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    if (locals && atol(locals) > sysconf(_SC_NPROCESSORS_ONLN)) setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
}

/* Did all ranks get here? Else the least one's message is every rank's. */
static bool agree(MPI_Comm all, int32_t rank, int32_t ranks, bool good, error* why)
{
    int mine = good ? ranks : rank, least = ranks;
    if (MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, all) != MPI_SUCCESS) return error_set(why, "MPI: ranks cannot talk");
    if (least == ranks) return true;
    error its = *why;
    if (MPI_Bcast(&its, (int)sizeof its, MPI_BYTE, least, all) == MPI_SUCCESS && rank != least) error_set(why, "rank %d: %s", least, its.text);
    return false;
}

static processes* processes_new(int32_t ranks, error* why)
{
    processes* m = memory_new(sizeof *m, "ranks", why);
    const char* largest = getenv("GGNN_TEST_MESSAGE"); /* tests want many messages without many bytes */
    if (!m) return NULL;
    m->ranks = MPI_COMM_NULL;
    m->largest = largest && atol(largest) > 0 ? atol(largest) : (int64_t)1 << 30;
    m->word = memory_new((size_t)ranks * sizeof *m->word, "ranks", why);
    m->request = m->word ? memory_new(2 * (size_t)ranks * sizeof *m->request, "ranks", why) : NULL;
    m->who = m->request ? memory_new((size_t)ranks * sizeof *m->who, "ranks", why) : NULL;
    return m;
}

static void processes_free(processes* m)
{
    if (!m) return;
    heartbeat_free(m->heartbeat);
    memory_free(m->word);
    memory_free(m->request);
    memory_free(m->who);
    memory_free(m);
}

static int meet_first(comm* c, int32_t world_rank)
{
    processes* m = own(c);
    const identity here = identity_here();
    int rank, e = MPI_Allgather(&here, (int)sizeof here, MPI_BYTE, m->who, (int)sizeof here, MPI_BYTE, MPI_COMM_WORLD);
    if (e == MPI_SUCCESS) e = number_ranks(m, world_rank, c->ranks);
    if (e == MPI_SUCCESS) e = MPI_Comm_set_errhandler(m->ranks, MPI_ERRORS_RETURN);
    if (e == MPI_SUCCESS) e = MPI_Comm_rank(m->ranks, &rank);
    if (e != MPI_SUCCESS) return e;
    const identity mine = m->who[world_rank];
    c->rank = rank;
    e = MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, m->who, (int)sizeof mine, MPI_BYTE, m->ranks);
    if (e == MPI_SUCCESS) find_machine(c);
    return e;
}

static bool start_heartbeat(comm* c, error* why)
{
    processes* m = own(c);
    heartbeat_address at = {0};
    m->heartbeat = heartbeat_new(c->rank, c->ranks, title, m, why);
    bool good = m->heartbeat && (c->rank != 0 || heartbeat_bind(m->heartbeat, c->machines == 1, &at, why));
    if (!agree(m->ranks, c->rank, c->ranks, good, why)) return false;
    if (MPI_Bcast(&at, (int)sizeof at, MPI_BYTE, 0, m->ranks) != MPI_SUCCESS) return error_set(why, "MPI: ranks cannot talk");
    good = heartbeat_start(m->heartbeat, &at, why);
    return agree(m->ranks, c->rank, c->ranks, good, why);
}

static bool meet_all(comm* c, error* why)
{
    int level, rank = 0, ranks = 0;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS) return error_set(why, "MPI does not start");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks < 2) return error_set(why, "several processes were started, but %s connects none of them: is this its mpirun? srun wants --mpi=pmix", comm_mpi_name());
    if (ranks > COMM_RANKS_MAX) return error_set(why, "%d ranks: at most %d work together", ranks, COMM_RANKS_MAX);
    processes* m = processes_new(ranks, why);
    if (!agree(MPI_COMM_WORLD, rank, ranks, m && m->who, why)) {
        processes_free(m);
        return false;
    }
    c->own = m;
    m->level = level;
    c->ranks = ranks;
    c->locals = c->machines = 0;
    int e = meet_first(c, rank);
    if (e != MPI_SUCCESS) return mpi_failed("the first words", e, why);
    snprintf(m->name, sizeof m->name, "rank %d (host %s)", (int)c->rank, m->who[c->rank].host);
    c->name = m->name;
    return start_heartbeat(c, why);
}

bool comm_open_mpi(comm* c, const volatile sig_atomic_t* stop, error* why)
{
    char text[240];
    patience p;
    const identity here = identity_here();
    comm_open_alone(c, stop);
    c->one_process = false;
    configure();
    snprintf(text, sizeof text, "process %lld on host %s still waits for the others to start: one that does not say so stands still, "
                                "or is not there", (long long)here.process, here.host);
    patience_begin(&p, text); /* until there are heartbeats nobody else would notice */
    const bool good = meet_all(c, why);
    patience_end(&p);
    if (good) c->engine = &mpi_engine;
    return good;
}

static bool branch(comm* to, comm* c, error* why)
{
    const processes* first = own(c);
    if (first->level < MPI_THREAD_MULTIPLE)
        return error_set(why, "%s lets one thread alone call it (MPI_THREAD_MULTIPLE is missing): --pipeline serial needs no more", comm_mpi_name());
    processes* m = processes_new(c->ranks, why);
    if (!agree(first->ranks, c->rank, c->ranks, m && m->who, why)) {
        processes_free(m);
        return false;
    }
    memcpy(m->who, first->who, (size_t)c->ranks * sizeof *m->who);
    m->level = first->level;
    int e = MPI_Comm_dup(first->ranks, &m->ranks);
    if (e == MPI_SUCCESS) e = MPI_Comm_set_errhandler(m->ranks, MPI_ERRORS_RETURN);
    *to = *c;
    to->own = m;
    to->nccl = NULL;
    to->cost = (comm_cost){0};
    return e == MPI_SUCCESS || mpi_failed("a second line", e, why);
}

/* After a failure other ranks may not come to free it with this one: then it goes with the process. */
static void close_branch(comm* c)
{
    processes* m = own(c);
    if (!c->failed.text[0] && m->ranks != MPI_COMM_NULL) MPI_Comm_free(&m->ranks);
    processes_free(m);
}

void comm_close_mpi(comm* c, bool failed)
{
    processes* m = c->own;
    error ignored = {""};
    int begun = 0, ended = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    /* a failure that all know is no reason to leave before they have printed it */
    bool together = !failed || c->failed.text[0] || !c->engine;
    if (c->engine && !failed) comm_barrier(c, &ignored);
    if (begun && !ended && together) {
        if (m && m->ranks != MPI_COMM_NULL) MPI_Comm_free(&m->ranks);
        MPI_Finalize();
    }
    if (together) processes_free(m);
    memset(c, 0, sizeof *c);
}
#endif
