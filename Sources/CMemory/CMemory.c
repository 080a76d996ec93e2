#define _GNU_SOURCE
#include "CMemory.h"

#if defined(__linux__)
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

// What was changed at the start, such as addresses that were put in, stands in segments that may be written to. Pages at the
// edges of a segment are left alone: another one may begin there.
static int unmap_code(struct dl_phdr_info *image, size_t size, void *unused) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int number = 0; number < image->dlpi_phnum; number++) {
        const ElfW(Phdr) *segment = &image->dlpi_phdr[number];
        if (segment->p_type != PT_LOAD || segment->p_flags & PF_W) continue;
        const uintptr_t start = (uintptr_t)image->dlpi_addr + segment->p_vaddr;
        const uintptr_t first = (start + page - 1) & ~(page - 1);
        const uintptr_t last = (start + segment->p_memsz) & ~(page - 1);
        if (last > first) madvise((void *)first, last - first, MADV_DONTNEED);
    }
    return 0;
}

void memory_unmap_code(void) { dl_iterate_phdr(unmap_code, 0); }
#else
void memory_unmap_code(void) {}
#endif
