//! What of a file the page cache holds, without touching it (`cachestat`, Linux 6.5).

#![expect(
    unsafe_code,
    reason = "the system call has no wrapper in the libraries that are used"
)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Its number, the same on every architecture.
const NUMBER: libc::c_long = 451;

/// `struct cachestat_range`: no length goes to the end of the file.
#[repr(C)]
struct Range {
    offset: u64,
    length: u64,
}

/// `struct cachestat`, in pages.
#[repr(C)]
#[derive(Default)]
struct Counts {
    cached: u64,
    dirty: u64,
    in_writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// Pages of a file that are in the page cache. Fails with `ENOSYS` on older kernels, with `EPERM` on files
/// that the caller neither owns nor may write.
pub(crate) fn pages(file: &File) -> io::Result<u64> {
    let (range, mut counts) = (
        Range {
            offset: 0,
            length: 0,
        },
        Counts::default(),
    );
    let flags: libc::c_uint = 0;
    // SAFETY: the kernel reads `range` and writes `counts`, which have the layouts of its header and outlive
    // the call; the descriptor is open as long as `file` is borrowed.
    let answer = unsafe {
        libc::syscall(
            NUMBER,
            file.as_raw_fd(),
            &raw const range,
            &raw mut counts,
            flags,
        )
    };
    if answer == 0 {
        Ok(counts.cached)
    } else {
        Err(io::Error::last_os_error())
    }
}
