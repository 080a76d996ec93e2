#pragma once

/// Unmaps the pages of the program and of its libraries that nobody can write to, their code above all; the next use of one
/// maps it again from the file, mostly without a look at the disk (madvise(2), MADV_DONTNEED; dl_iterate_phdr(3)). Does
/// nothing on other systems than Linux.
void memory_unmap_code(void);
