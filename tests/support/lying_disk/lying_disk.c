/* A shim for LD_PRELOAD that keeps a journal of what a process does to the files of one directory.
 *
 * Reads return what was written, whether or not it ever reached the disk. The journal records what was written
 * and what was forced to the disk: from it tests/support/lying_disk/disk_model.py computes what survives a power
 * failure. Each call is also executed. Rules can make it slow, or let it fail.
 *
 *   LYING_DISK_ROOT     the directory that is watched, an absolute path without symbolic links
 *   LYING_DISK_JOURNAL  the file that records are appended to, outside of the root; one process at a time
 *   LYING_DISK_CONTROL  a file that may be created and removed, read at each call. One rule per line:
 *                           CALL stall MILLISECONDS [PART OF THE PATH]
 *                           CALL fail ERRNO [PART OF THE PATH]
 *                       CALL is open, write, truncate, fsync, rename, unlink, link or mkdir. A stall ends early
 *                       when the file no longer has the rule.
 *
 * A lock is held around a call and its record, so that the journal has the order of the calls. An fsync has two
 * records and no lock between them: what is written after its begin may or may not be covered by it.
 * Not recorded: mmap, fallocate, sendfile, copies of descriptors, and stdio. LyingDisk.settle compares the
 * journal with the directory, so that a program that uses those fails its test.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum kind {
    STARTED = 1, CREATE = 2, WRITE = 3, TRUNCATE = 4, FSYNC_BEGIN = 5, FSYNC_END = 6,
    RENAME = 7, UNLINK = 8, LINK = 9, MKDIR = 10, RMDIR = 11, STALLED = 12,
};

struct header {
    uint32_t size_bytes; /* the size of the whole record */
    uint8_t kind;
    uint8_t unused[3];
    int64_t time_ns; /* CLOCK_MONOTONIC, which all processes share */
    uint64_t inode;
    int64_t number; /* a position, a size, the ticket of an fsync, or milliseconds */
    uint32_t path_bytes, other_bytes, data_bytes;
} __attribute__((packed));

#define DESCRIPTORS_MAX 65536
#define RULES_BYTES_MAX 4096

static const char *root, *control;
static size_t root_length;
static int journal = -1;
static int64_t tickets;
static char *paths[DESCRIPTORS_MAX]; /* of watched descriptors */
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) \
    ((__typeof__(&name))(real_##name ? real_##name : (real_##name = dlsym(RTLD_NEXT, #name))))
#define DECLARE_REAL(name) static void *_Atomic real_##name
DECLARE_REAL(open64); DECLARE_REAL(openat64); DECLARE_REAL(close); DECLARE_REAL(write); DECLARE_REAL(pwrite64);
DECLARE_REAL(ftruncate64); DECLARE_REAL(truncate64); DECLARE_REAL(fsync); DECLARE_REAL(fdatasync);
DECLARE_REAL(renameat2); DECLARE_REAL(unlinkat); DECLARE_REAL(linkat); DECLARE_REAL(mkdirat);

static void die(const char *why)
{
    dprintf(2, "lying disk: %s: %s\n", why, strerror(errno));
    abort();
}

__attribute__((constructor)) static void start(void);

static void append(enum kind kind, uint64_t inode, int64_t number, const char *path, const char *other,
                   const void *data, size_t data_bytes)
{
    size_t path_bytes = strlen(path), other_bytes = strlen(other);
    size_t size_bytes = sizeof(struct header) + path_bytes + other_bytes + data_bytes;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    char *record = malloc(size_bytes);
    if (record == NULL)
        die("no memory for a record");
    struct header head = {
        (uint32_t)size_bytes, (uint8_t)kind, {0, 0, 0}, now.tv_sec * 1000000000LL + now.tv_nsec, inode, number,
        (uint32_t)path_bytes, (uint32_t)other_bytes, (uint32_t)data_bytes,
    };
    char *end = record;
    memcpy(end, &head, sizeof head), end += sizeof head;
    memcpy(end, path, path_bytes), end += path_bytes;
    memcpy(end, other, other_bytes), end += other_bytes;
    if (data_bytes > 0)
        memcpy(end, data, data_bytes);
    for (size_t done = 0; done < size_bytes;) {
        ssize_t written = REAL(write)(journal, record + done, size_bytes - done);
        if (written < 0)
            die("cannot write the journal");
        done += (size_t)written;
    }
    free(record);
}

static void start(void)
{
    root = getenv("LYING_DISK_ROOT");
    control = getenv("LYING_DISK_CONTROL");
    const char *name = getenv("LYING_DISK_JOURNAL");
    if (root == NULL || name == NULL)
        return;
    root_length = strlen(root);
    journal = REAL(open64)(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (journal < 0)
        die("cannot open the journal");
    append(STARTED, 0, getpid(), "", "", NULL, 0);
}

/* Paths and descriptors */

static int is_watched(const char *path)
{
    return journal >= 0 && strncmp(path, root, root_length) == 0
        && (path[root_length] == '/' || path[root_length] == '\0');
}

static const char *path_of(int descriptor)
{
    return journal >= 0 && descriptor >= 0 && descriptor < DESCRIPTORS_MAX ? paths[descriptor] : NULL;
}

/* Stores the absolute path in `found`; returns whether it is watched. */
static int resolve(int directory, const char *path, char *found)
{
    char link[64], base[PATH_MAX];
    if (journal < 0 || path == NULL)
        return 0;
    if (path[0] == '/') {
        snprintf(found, PATH_MAX, "%s", path);
        return is_watched(found);
    }
    if (directory == AT_FDCWD) {
        if (getcwd(base, sizeof base) == NULL)
            return 0;
    } else {
        snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
        ssize_t length = readlink(link, base, sizeof base - 1);
        if (length < 0)
            return 0;
        base[length] = '\0';
    }
    if (snprintf(found, PATH_MAX, "%s/%s", base, path) >= PATH_MAX)
        die("a path is too long");
    return is_watched(found);
}

static struct stat status_of(int descriptor)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        die("fstat");
    return status;
}

static uint64_t inode_of(const char *path)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        die("lstat");
    return status.st_ino;
}

/* Rules */

/* Stores the action of the rule for `call` on `path` in `action`; returns its number, -1 without a rule. */
static long rule_for(const char *call, const char *path, char *action)
{
    char rules[RULES_BYTES_MAX], *rest = NULL;
    int descriptor = control == NULL ? -1 : REAL(open64)(control, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return -1;
    ssize_t length = read(descriptor, rules, sizeof rules - 1);
    REAL(close)(descriptor);
    rules[length < 0 ? 0 : length] = '\0';
    for (char *line = strtok_r(rules, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        char name[16], part[128] = "";
        long number;
        if (sscanf(line, "%15s %7s %ld %127s", name, action, &number, part) >= 3 && strcmp(name, call) == 0
            && strstr(path, part) != NULL)
            return number;
    }
    return -1;
}

/* Waits according to the rules, without the lock. Returns -1 with errno when the call has to fail. */
static int obey(const char *call, const char *path)
{
    char action[8];
    long number = rule_for(call, path, action);
    if (number < 0)
        return 0;
    if (strcmp(action, "fail") == 0) {
        errno = (int)number;
        return -1;
    }
    pthread_mutex_lock(&order);
    append(STALLED, 0, number, path, call, NULL, 0);
    pthread_mutex_unlock(&order);
    const struct timespec step = {0, 2000000};
    for (long waited_ms = 0; waited_ms < number; waited_ms += 2) {
        nanosleep(&step, NULL);
        if (waited_ms % 50 == 48 && rule_for(call, path, action) < 0)
            break;
    }
    return 0;
}

/* A call and its record, with nothing in between: `noted` is evaluated when the call succeeded. */
#define IN_ORDER(type, call, succeeded, noted) \
    do { \
        pthread_mutex_lock(&order); \
        type result = call; \
        int error = errno; \
        if (succeeded) { \
            noted; \
        } \
        pthread_mutex_unlock(&order); \
        errno = error; \
        return result; \
    } while (0)

/* Opening and closing */

static void note_open(int descriptor, const char *path, int flags, int existed)
{
    if (descriptor >= DESCRIPTORS_MAX)
        die("too many descriptors");
    free(paths[descriptor]);
    paths[descriptor] = strdup(path);
    struct stat status = status_of(descriptor);
    if (!existed)
        append(CREATE, status.st_ino, 0, path, "", NULL, 0);
    else if (flags & O_TRUNC)
        append(TRUNCATE, status.st_ino, 0, "", "", NULL, 0);
}

static int open_watched(const char *path, int flags, mode_t mode)
{
    struct stat status;
    if (flags & O_CREAT && obey("open", path) < 0)
        return -1;
    int existed;
    IN_ORDER(int, (existed = lstat(path, &status) == 0, REAL(open64)(path, flags, mode)), result >= 0,
             note_open(result, path, flags, existed));
}

static int open_at(int directory, const char *path, int flags, mode_t mode)
{
    char found[PATH_MAX];
    if (resolve(directory, path, found))
        return open_watched(found, flags, mode);
    return REAL(openat64)(directory, path, flags, mode);
}

#define MODE(flags, last) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list more; \
        va_start(more, last); \
        mode = va_arg(more, mode_t); \
        va_end(more); \
    }

int open(const char *path, int flags, ...)
{
    MODE(flags, flags)
    return open_at(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    MODE(flags, flags)
    return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...)
{
    MODE(flags, flags)
    return open_at(directory, path, flags, mode);
}

int openat64(int directory, const char *path, int flags, ...)
{
    MODE(flags, flags)
    return open_at(directory, path, flags, mode);
}

int creat(const char *path, mode_t mode) { return open_at(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return open_at(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode); }

int close(int descriptor)
{
    if (path_of(descriptor) != NULL) {
        pthread_mutex_lock(&order);
        free(paths[descriptor]);
        paths[descriptor] = NULL;
        pthread_mutex_unlock(&order);
    }
    return REAL(close)(descriptor);
}

/* Content */

ssize_t write(int descriptor, const void *data, size_t count)
{
    const char *path = path_of(descriptor);
    if (path == NULL)
        return REAL(write)(descriptor, data, count);
    if (obey("write", path) < 0)
        return -1;
    int appends = fcntl(descriptor, F_GETFL) & O_APPEND;
    off64_t position;
    IN_ORDER(ssize_t,
             (position = appends ? status_of(descriptor).st_size : lseek64(descriptor, 0, SEEK_CUR),
              REAL(write)(descriptor, data, count)),
             result > 0, append(WRITE, status_of(descriptor).st_ino, position, "", "", data, (size_t)result));
}

ssize_t pwrite64(int descriptor, const void *data, size_t count, off64_t position)
{
    const char *path = path_of(descriptor);
    if (path == NULL)
        return REAL(pwrite64)(descriptor, data, count, position);
    if (obey("write", path) < 0)
        return -1;
    IN_ORDER(ssize_t, REAL(pwrite64)(descriptor, data, count, position), result > 0,
             append(WRITE, status_of(descriptor).st_ino, position, "", "", data, (size_t)result));
}

ssize_t pwrite(int descriptor, const void *data, size_t count, off_t position)
{
    return pwrite64(descriptor, data, count, position);
}

int ftruncate64(int descriptor, off64_t size)
{
    const char *path = path_of(descriptor);
    if (path == NULL)
        return REAL(ftruncate64)(descriptor, size);
    if (obey("truncate", path) < 0)
        return -1;
    IN_ORDER(int, REAL(ftruncate64)(descriptor, size), result == 0,
             append(TRUNCATE, status_of(descriptor).st_ino, size, "", "", NULL, 0));
}

int ftruncate(int descriptor, off_t size) { return ftruncate64(descriptor, size); }

int truncate64(const char *path, off64_t size)
{
    char found[PATH_MAX];
    if (!resolve(AT_FDCWD, path, found))
        return REAL(truncate64)(path, size);
    if (obey("truncate", found) < 0)
        return -1;
    IN_ORDER(int, REAL(truncate64)(found, size), result == 0,
             append(TRUNCATE, inode_of(found), size, "", "", NULL, 0));
}

int truncate(const char *path, off_t size) { return truncate64(path, size); }

/* Forcing: the ticket joins the two records of one call */

static int force(int (*real)(int), int descriptor)
{
    const char *path = path_of(descriptor);
    if (path == NULL)
        return real(descriptor);
    uint64_t inode = status_of(descriptor).st_ino;
    pthread_mutex_lock(&order);
    int64_t ticket = ++tickets;
    append(FSYNC_BEGIN, inode, ticket, "", "", NULL, 0);
    pthread_mutex_unlock(&order);
    if (obey("fsync", path) < 0)
        return -1;
    int result = real(descriptor), error = errno;
    if (result == 0) {
        pthread_mutex_lock(&order);
        append(FSYNC_END, inode, ticket, "", "", NULL, 0);
        pthread_mutex_unlock(&order);
    }
    errno = error;
    return result;
}

int fsync(int descriptor) { return force(REAL(fsync), descriptor); }
int fdatasync(int descriptor) { return force(REAL(fdatasync), descriptor); }

/* Names */

int renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned int flags)
{
    char source[PATH_MAX], target[PATH_MAX];
    int source_watched = resolve(from_directory, from, source), target_watched = resolve(to_directory, to, target);
    if (!source_watched && !target_watched)
        return REAL(renameat2)(from_directory, from, to_directory, to, flags);
    if (obey("rename", target) < 0)
        return -1;
    IN_ORDER(int, REAL(renameat2)(AT_FDCWD, source, AT_FDCWD, target, flags), result == 0,
             append(RENAME, 0, 0, source, target, NULL, 0));
}

int renameat(int from_directory, const char *from, int to_directory, const char *to)
{
    return renameat2(from_directory, from, to_directory, to, 0);
}

int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlinkat(int directory, const char *path, int flags)
{
    char found[PATH_MAX];
    if (!resolve(directory, path, found))
        return REAL(unlinkat)(directory, path, flags);
    if (obey("unlink", found) < 0)
        return -1;
    IN_ORDER(int, REAL(unlinkat)(AT_FDCWD, found, flags), result == 0,
             append(flags & AT_REMOVEDIR ? RMDIR : UNLINK, 0, 0, found, "", NULL, 0));
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int linkat(int from_directory, const char *from, int to_directory, const char *to, int flags)
{
    char source[PATH_MAX], target[PATH_MAX];
    int source_watched = resolve(from_directory, from, source), target_watched = resolve(to_directory, to, target);
    if (!source_watched && !target_watched)
        return REAL(linkat)(from_directory, from, to_directory, to, flags);
    if (obey("link", target) < 0)
        return -1;
    IN_ORDER(int, REAL(linkat)(AT_FDCWD, source, AT_FDCWD, target, flags), result == 0,
             append(LINK, 0, 0, source, target, NULL, 0));
}

int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int mkdirat(int directory, const char *path, mode_t mode)
{
    char found[PATH_MAX];
    if (!resolve(directory, path, found))
        return REAL(mkdirat)(directory, path, mode);
    if (obey("mkdir", found) < 0)
        return -1;
    IN_ORDER(int, REAL(mkdirat)(AT_FDCWD, found, mode), result == 0,
             append(MKDIR, inode_of(found), 0, found, "", NULL, 0));
}

int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }
