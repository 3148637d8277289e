//! What of a file the page cache holds, asked through a mapping of it (`mincore`): for kernels without
//! `cachestat`, and file systems that keep pages elsewhere than in the file that is opened (overlay).

#![expect(
    unsafe_code,
    reason = "mapping a file and asking for its pages have no safe wrapper"
)]

use std::fs::File;
use std::io;

/// Bytes that are mapped at a time.
const WINDOW_BYTES: u64 = 1 << 30;

/// Pages of a file that are in the page cache. Linux says "all" to whoever neither owns the file nor may write
/// to it, so that nobody looks into the files of others: ask only for files of one's own.
pub(crate) fn pages(file: &File, file_bytes: u64) -> io::Result<u64> {
    let page_bytes = rustix::param::page_size();
    let mut cached = 0;
    for offset in (0..file_bytes).step_by(usize::try_from(WINDOW_BYTES).unwrap_or(usize::MAX)) {
        let window = WINDOW_BYTES.min(file_bytes - offset);
        let length = usize::try_from(window).map_err(io::Error::other)?;
        let mut options = memmap2::MmapOptions::new();
        // SAFETY: no byte of the mapping is ever looked at, so that it does not matter who changes the file.
        let map = unsafe { options.offset(offset).len(length).map(file)? };
        let mut present = vec![0u8; length.div_ceil(page_bytes)];
        // SAFETY: the range is that of the mapping, which lives across the call and begins at a page; the kernel
        // writes one byte for each of its pages.
        let answer =
            unsafe { libc::mincore(map.as_ptr().cast_mut().cast(), length, present.as_mut_ptr()) };
        if answer != 0 {
            return Err(io::Error::last_os_error());
        }
        cached += present.iter().filter(|flags| **flags & 1 == 1).count() as u64;
    }
    Ok(cached)
}
