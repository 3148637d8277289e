//! An allocator that knows how much there is.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// More than this is refused, which ends the process before the machine suffers.
const REFUSED_BYTES: usize = 2 << 30;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator with a count of live bytes.
pub(crate) struct Counting;

impl Counting {
    /// Begins a measurement; gives the bytes that are live already.
    pub(crate) fn begin() -> usize {
        let live = LIVE.load(Ordering::Relaxed);
        PEAK.store(live, Ordering::Relaxed);
        live
    }

    /// The most bytes that were live at once since the measurement began.
    pub(crate) fn peak() -> usize {
        PEAK.load(Ordering::Relaxed)
    }

    fn add(bytes: usize) -> bool {
        let live = LIVE.fetch_add(bytes, Ordering::Relaxed).wrapping_add(bytes);
        if live > REFUSED_BYTES {
            LIVE.fetch_sub(bytes, Ordering::Relaxed);
            return false;
        }
        PEAK.fetch_max(live, Ordering::Relaxed);
        true
    }

    fn remove(bytes: usize) {
        LIVE.fetch_sub(bytes, Ordering::Relaxed);
    }
}

// SAFETY: every call goes on to the system's allocator with the same arguments, or is refused with a
// null pointer; counting neither allocates nor unwinds.
#[expect(unsafe_code, reason = "there is no other way to count allocations")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !Self::add(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise about `layout` is passed on.
        let place = unsafe { System.alloc(layout) };
        if place.is_null() {
            Self::remove(layout.size());
        }
        place
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !Self::add(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise about `layout` is passed on.
        let place = unsafe { System.alloc_zeroed(layout) };
        if place.is_null() {
            Self::remove(layout.size());
        }
        place
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        Self::remove(layout.size());
        // SAFETY: `place` came from the system's allocator with this layout.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !Self::add(size) {
            return std::ptr::null_mut();
        }
        // SAFETY: `place` came from the system's allocator with this layout; `size` is passed on.
        let moved = unsafe { System.realloc(place, layout, size) };
        Self::remove(if moved.is_null() { size } else { layout.size() });
        moved
    }
}
