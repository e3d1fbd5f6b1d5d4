// Runs a program and makes one of its system calls that change the disk fail, or the last.
//
//     FaultInjector --log FILE --below DIR [--kill N] [--fail N ERRNO] [--fail-from N ERRNO]
//                   [--signal N SIGNAL] [--refuse exchange|flags ERRNO] PROGRAM [ARGUMENT...]
//
// Calls that change or open something at or below DIR are counted from 1 over all threads, in the
// order in which they are begun. Each is logged as
//
//     N <tab> CALL <tab> PATH [<tab> PATH] [<tab> !]
//
// where CALL is "look" for one that only opens a file, and "!" says that a fault was put there.
//
// --kill N         kills the program with SIGKILL instead of making call N.
// --fail N E       does not make call N, which returns the error number E.
// --fail-from N E  makes no call that changes something from N on: a disk that died.
// --signal N S     sends the program the signal S when it is about to make call N. May be given twice.
// --refuse         makes no renameat2(2) that exchanges names, or none that has any flags; it returns
//                  E, as on a file system or a kernel without it. It is counted all the same.
//
// Exits with the program's own code, or 128 and the signal that ended it.
//
// strace(1) can inject too, but counts each kind of call by itself and in each thread by itself
// (strace(1), "when="), so that "the nth call" of a program with threads cannot be said to it.
#define _GNU_SOURCE
#include <stdio.h>

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

// What the arguments of a call are.
enum shape {
    DESCRIPTOR,      // fd, …
    PATH,            // path, …
    AT,              // dirfd, path, …
    TWO_PATHS,       // path, path
    TWO_AT,          // dirfd, path, dirfd, path, …
    PATH_SECOND,     // anything, path
    AT_SECOND,       // anything, dirfd, path
    OPEN,            // path, flags
    OPEN_AT,         // dirfd, path, flags
};

static const struct call {
    long number;
    const char *name;
    enum shape shape;
} calls[] = {
#ifdef __x86_64__  // The older of the calls, which newer machines do not have.
    {SYS_open, "open", OPEN}, {SYS_creat, "creat", PATH},
    {SYS_rename, "rename", TWO_PATHS}, {SYS_link, "link", TWO_PATHS},
    {SYS_symlink, "symlink", PATH_SECOND}, {SYS_unlink, "unlink", PATH},
    {SYS_rmdir, "rmdir", PATH}, {SYS_mkdir, "mkdir", PATH}, {SYS_chmod, "chmod", PATH},
    {SYS_chown, "chown", PATH}, {SYS_lchown, "lchown", PATH},
#endif
    {SYS_openat, "openat", OPEN_AT},
    {SYS_write, "write", DESCRIPTOR}, {SYS_writev, "writev", DESCRIPTOR},
    {SYS_pwrite64, "pwrite64", DESCRIPTOR}, {SYS_pwritev, "pwritev", DESCRIPTOR},
    {SYS_copy_file_range, "copy_file_range", DESCRIPTOR}, {SYS_sendfile, "sendfile", DESCRIPTOR},
    {SYS_fallocate, "fallocate", DESCRIPTOR}, {SYS_ftruncate, "ftruncate", DESCRIPTOR},
    {SYS_truncate, "truncate", PATH},
    {SYS_fsync, "fsync", DESCRIPTOR}, {SYS_fdatasync, "fdatasync", DESCRIPTOR},
    {SYS_syncfs, "syncfs", DESCRIPTOR},
    {SYS_renameat, "renameat", TWO_AT}, {SYS_renameat2, "renameat2", TWO_AT},
    {SYS_linkat, "linkat", TWO_AT}, {SYS_symlinkat, "symlinkat", AT_SECOND},
    {SYS_unlinkat, "unlinkat", AT}, {SYS_mkdirat, "mkdirat", AT}, {SYS_mknodat, "mknodat", AT},
    {SYS_fchmod, "fchmod", DESCRIPTOR}, {SYS_fchmodat, "fchmodat", AT},
    {SYS_fchown, "fchown", DESCRIPTOR}, {SYS_fchownat, "fchownat", AT},
    {SYS_utimensat, "utimensat", AT},
};

// At a call, an error number or a signal.
struct fault {
    long number;
    int error;
};

static FILE *log_file;
static const char *below;
static long kill_at;
static struct fault dead_from;
static struct fault signals[2];
static int signal_count;
static struct fault faults[16];
static int fault_count;
static unsigned refused_flags;
static int refused_error;
static long counted;

static _Noreturn void fail(const char *what) {
    perror(what);
    exit(125);
}

static bool is_below(const char *path) {
    size_t length = strlen(below);
    return strncmp(path, below, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static void descriptor_path(pid_t thread, int descriptor, char path[PATH_MAX]) {
    char link[64];
    if (descriptor == AT_FDCWD)
        snprintf(link, sizeof link, "/proc/%d/cwd", thread);
    else
        snprintf(link, sizeof link, "/proc/%d/fd/%d", thread, descriptor);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
}

// A string of the program's memory; read page by page, since the next one may not be there.
static void read_string(pid_t thread, uint64_t address, char text[PATH_MAX]) {
    size_t done = 0;
    while (address != 0 && done < PATH_MAX - 1) {
        size_t part = 4096 - (address + done) % 4096;
        if (part > PATH_MAX - 1 - done) part = PATH_MAX - 1 - done;
        struct iovec here = {text + done, part};
        struct iovec there = {(void *)(uintptr_t)(address + done), part};
        ssize_t count = process_vm_readv(thread, &here, 1, &there, 1, 0);
        if (count <= 0) break;
        done += (size_t)count;
        if (memchr(text + done - count, 0, (size_t)count)) return;
    }
    text[done] = 0;
}

static void path_at(pid_t thread, int directory, uint64_t address, char path[PATH_MAX]) {
    char name[PATH_MAX];
    read_string(thread, address, name);
    if (name[0] == '/') {
        memcpy(path, name, PATH_MAX);
        return;
    }
    descriptor_path(thread, directory, path);
    if (name[0] == 0) return;  // utimensat(fd, NULL, …) is about the descriptor.
    size_t length = strlen(path);
    snprintf(path + length, PATH_MAX - length, "/%s", name);
}

// Finds the paths of a call; the second is empty for most.
static void find_paths(pid_t thread, enum shape shape, const uint64_t *arguments,
                       char first[PATH_MAX], char second[PATH_MAX]) {
    second[0] = 0;
    switch (shape) {
    case DESCRIPTOR: descriptor_path(thread, (int)arguments[0], first); break;
    case OPEN:
    case PATH: path_at(thread, AT_FDCWD, arguments[0], first); break;
    case OPEN_AT:
    case AT: path_at(thread, (int)arguments[0], arguments[1], first); break;
    case PATH_SECOND: path_at(thread, AT_FDCWD, arguments[1], first); break;
    case AT_SECOND: path_at(thread, (int)arguments[1], arguments[2], first); break;
    case TWO_PATHS:
        path_at(thread, AT_FDCWD, arguments[0], first);
        path_at(thread, AT_FDCWD, arguments[1], second);
        break;
    case TWO_AT:
        path_at(thread, (int)arguments[0], arguments[1], first);
        path_at(thread, (int)arguments[2], arguments[3], second);
        break;
    }
}

static bool changes_disk(enum shape shape, const uint64_t *arguments) {
    if (shape != OPEN && shape != OPEN_AT) return true;
    uint64_t flags = arguments[shape == OPEN ? 1 : 2];
    return (flags & (O_CREAT | O_TRUNC)) != 0;
}

// Where a filter stopped a call, it is not made if its number is changed to none; what it returns is
// then what is in the register (seccomp(2), SECCOMP_RET_TRACE).
static void skip_call(pid_t thread, int error) {
#ifdef __x86_64__
    size_t number = offsetof(struct user_regs_struct, orig_rax);
    size_t result = offsetof(struct user_regs_struct, rax);
    if (ptrace(PTRACE_POKEUSER, thread, number, -1L)) fail("ptrace");
    if (ptrace(PTRACE_POKEUSER, thread, result, (long)-error)) fail("ptrace");
#else
    int none = -1;
    struct iovec part = {&none, sizeof none};
    if (ptrace(PTRACE_SETREGSET, thread, NT_ARM_SYSTEM_CALL, &part)) fail("ptrace");
    struct user_regs_struct registers;
    part = (struct iovec){&registers, sizeof registers};
    if (ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &part)) fail("ptrace");
    registers.regs[0] = (uint64_t)-(int64_t)error;
    if (ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &part)) fail("ptrace");
#endif
}

static void begin_call(pid_t program, pid_t thread, long number, const uint64_t *arguments) {
    const struct call *call = calls;
    const struct call *end = calls + sizeof calls / sizeof *calls;
    while (call < end && call->number != number) call++;
    if (call == end) return;
    char first[PATH_MAX], second[PATH_MAX];
    find_paths(thread, call->shape, arguments, first, second);
    if (!is_below(first) && !is_below(second)) return;

    counted += 1;
    int error = 0;
    bool is_change = changes_disk(call->shape, arguments);
    if (number == SYS_renameat2 && (arguments[4] & refused_flags) != 0) error = refused_error;
    bool is_fault = kill_at == counted;
    if (dead_from.number != 0 && counted >= dead_from.number && is_change) {
        error = dead_from.error;
        is_fault = true;
    }
    for (int i = 0; i < fault_count; i++) {
        if (faults[i].number != counted) continue;
        error = faults[i].error;
        is_fault = true;
    }
    for (int i = 0; i < signal_count; i++) {
        if (signals[i].number != counted) continue;
        kill(program, signals[i].error);
        is_fault = true;
    }
    fprintf(log_file, "%ld\t%s\t%s%s%s%s\n", counted, is_change ? call->name : "look",
            first, second[0] ? "\t" : "",
            second, is_fault ? "\t!" : "");
    if (kill_at == counted) {
        kill(program, SIGKILL);
    } else if (error != 0) {
        skip_call(thread, error);
    }
}

static void see_call(pid_t program, pid_t thread) {
    struct __ptrace_syscall_info info;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) <= 0) return;  // It was killed.
    begin_call(program, thread, (long)info.seccomp.nr, (const uint64_t *)info.seccomp.args);
}

// Threads begin with a SIGSTOP that is ours and not theirs.
static bool is_new(pid_t thread) {
    static pid_t known[4096];
    static size_t count;
    for (size_t i = 0; i < count; i++)
        if (known[i] == thread) return false;
    if (count < sizeof known / sizeof *known) known[count++] = thread;
    return true;
}

static int follow(pid_t program) {
    while (true) {
        int status;
        pid_t thread = waitpid(-1, &status, __WALL);
        if (thread == -1) fail("waitpid");
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (thread != program) continue;
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        int signal = WSTOPSIG(status);
        if (status >> 16 == PTRACE_EVENT_SECCOMP) see_call(program, thread);
        if (status >> 16 != 0 || (signal == SIGSTOP && is_new(thread))) signal = 0;
        // ESRCH: it was killed meanwhile.
        if (ptrace(PTRACE_CONT, thread, 0, signal) == -1 && errno != ESRCH) fail("ptrace");
    }
}

// Lets the kernel stop the program at the calls of the table only: it is hardly slower then.
static void filter_calls(void) {
    enum { COUNT = sizeof calls / sizeof *calls };
    struct sock_filter filter[COUNT + 3];
    filter[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                             offsetof(struct seccomp_data, nr));
    for (int i = 0; i < COUNT; i++) {
        filter[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                     (unsigned)calls[i].number, COUNT - i, 0);
    }
    filter[COUNT + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[COUNT + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    struct sock_fprog program = {COUNT + 3, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) fail("prctl");
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) fail("seccomp");
}

static pid_t start(char **arguments) {
    pid_t program = fork();
    if (program == -1) fail("fork");
    if (program == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        filter_calls();
        execv(arguments[0], arguments);
        perror(arguments[0]);
        _exit(127);
    }
    int status;
    if (waitpid(program, &status, 0) == -1 || !WIFSTOPPED(status)) fail("waitpid");
    is_new(program);
    long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                   PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SETOPTIONS, program, 0, options) == -1) fail("ptrace");
    if (ptrace(PTRACE_CONT, program, 0, 0) == -1) fail("ptrace");
    return program;
}

static _Noreturn void usage(void) {
    fputs("usage: FaultInjector --log FILE --below DIR [--kill N] [--fail N ERRNO]\n"
          "       [--fail-from N ERRNO] [--signal N SIGNAL] [--refuse exchange|flags ERRNO] PROGRAM [ARGUMENT...]\n", stderr);
    exit(64);
}

int main(int count, char **arguments) {
    int i = 1;
    for (; i < count && strncmp(arguments[i], "--", 2) == 0; i++) {
        const char *option = arguments[i];
        int left = count - 1 - i;
        if (strcmp(option, "--log") == 0 && left > 0) {
            log_file = fopen(arguments[++i], "we");
            if (!log_file) fail(arguments[i]);
        } else if (strcmp(option, "--below") == 0 && left > 0) {
            below = arguments[++i];
        } else if (strcmp(option, "--kill") == 0 && left > 0) {
            kill_at = atol(arguments[++i]);
        } else if (strcmp(option, "--fail") == 0 && left > 1 &&
                   fault_count < (int)(sizeof faults / sizeof *faults)) {
            faults[fault_count].number = atol(arguments[++i]);
            faults[fault_count++].error = atoi(arguments[++i]);
        } else if (strcmp(option, "--signal") == 0 && left > 1 && signal_count < 2) {
            signals[signal_count].number = atol(arguments[++i]);
            signals[signal_count++].error = atoi(arguments[++i]);
        } else if (strcmp(option, "--fail-from") == 0 && left > 1) {
            dead_from.number = atol(arguments[++i]);
            dead_from.error = atoi(arguments[++i]);
        } else if (strcmp(option, "--refuse") == 0 && left > 1) {
            refused_flags = strcmp(arguments[++i], "flags") == 0 ? ~0u : RENAME_EXCHANGE;
            refused_error = atoi(arguments[++i]);
        } else {
            usage();
        }
    }
    if (i == count || !log_file || !below) usage();
    int status = follow(start(arguments + i));
    if (fclose(log_file) != 0) fail("log");
    return status;
}
#else
int main(void) {
    fputs("FaultInjector: not for this system\n", stderr);
    return 69;
}
#endif
