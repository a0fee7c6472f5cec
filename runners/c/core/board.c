/* The board's memory: mapped once for all groups of a request. */
#include "board.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rowpath.h"

bool rp_board_map(rp_board *board, const char *file) {
    struct stat facts;
    int descriptor = open(file, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return rp_fail_errno(RP_INTERNAL, "the board");
    bool good = fstat(descriptor, &facts) == 0;
    void *memory =
        good ? mmap(NULL, (size_t)facts.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) : MAP_FAILED;
    if (memory == MAP_FAILED) rp_fail_errno(RP_INTERNAL, "the board");
    close(descriptor);
    if (memory == MAP_FAILED) return false;
    *board = (rp_board){memory, (size_t)facts.st_size};
    return true;
}

void rp_board_unmap(rp_board *board) {
    if (board->memory != NULL) munmap(board->memory, board->size);
    *board = (rp_board){0};
}

void *rp_board_at(const rp_board *board, int64_t offset, int64_t bytes) {
    if (offset >= 0 && offset % 8 == 0 && bytes >= 0 && (uint64_t)offset <= board->size &&
        (uint64_t)bytes <= board->size - (uint64_t)offset)
        return board->memory + offset;
    rp_fail(RP_INTERNAL, "", "%lld bytes at %lld of a board of %zu bytes", (long long)bytes, (long long)offset,
            board->size);
    return NULL;
}
