//! Rows worked on by several threads: an input is read in order, in runs of a fixed number of rows.
//! A thread takes the next run and makes a part of it, and the parts are merged in the order of the
//! rows. Where a run begins depends on nothing but the rows, so that what comes of them is the same
//! whatever the number of threads.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use sas7bdat::{Rows, TakenRows};

use super::input::Input;
use crate::failure::Outcome;

/// Rows of a run, unless they take more than `RUN_BYTES`.
pub const RUN_ROWS: usize = 8192;

/// Bytes of a run of long rows.
const RUN_BYTES: usize = 4 << 20;

/// Runs of longer rows than fit have so many, as each costs a merge.
const RUN_ROWS_LEAST: usize = 128;

/// Runs that each thread may be ahead of the one to be merged.
const AHEAD: u64 = 3;

/// What threads do with runs.
pub struct Work<B, T> {
    /// Begins a part.
    pub begin: B,
    /// Takes rows of a run into its part, in order.
    pub take: T,
}

/// Rows of a run of rows of `row_bytes`.
fn rows_of_run(row_bytes: usize) -> usize {
    (RUN_BYTES / row_bytes.max(1)).clamp(RUN_ROWS_LEAST, RUN_ROWS)
}

/// Threads, at most `wanted`, that pay for the rows of `input` and, each with `part_bytes` for a part,
/// stay within `limit` bytes.
pub fn threads(input: &Input, wanted: usize, part_bytes: u64, limit: u64) -> usize {
    let metadata = input.metadata();
    let row_bytes = u64::from(metadata.layout.row_bytes);
    let run = rows_of_run(metadata.layout.row_bytes as usize) as u64;
    let pages = run * row_bytes + 2 * u64::from(metadata.page_bytes);
    let each = (pages + part_bytes) * (AHEAD + 1);
    let most = (metadata.rows / run).min(limit / each.max(1)).max(1);
    wanted.clamp(1, usize::try_from(most).unwrap_or(usize::MAX))
}

/// Reads all of `input` with so many threads, this one among them; every part goes to `merge`, in the
/// order of the rows, in this thread.
pub fn each_run<P: Send>(
    input: &mut Input,
    threads: usize,
    work: &Work<impl Fn() -> P + Sync, impl Fn(&mut P, Rows<'_>) -> Outcome<()> + Sync>,
    mut merge: impl FnMut(P) -> Outcome<()>,
) -> Outcome<()> {
    let rows = rows_of_run(input.metadata().layout.row_bytes as usize);
    if threads <= 1 {
        return alone(input, rows, work, merge);
    }
    let team = Team {
        feed: Mutex::new(Feed { input, rest: None }),
        spares: Mutex::new(Vec::new()),
        state: Mutex::new(State::default()),
        changed: Condvar::new(),
        rows,
        most: threads as u64 * AHEAD,
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| {
                let _end = End(&team);
                while team.one(work, true) {}
            });
        }
        // However this ends, the others are told.
        let _end = End(&team);
        loop {
            if let Some(part) = team.next_part() {
                merge(part?)?;
                team.merged();
            } else if !team.one(work, false) && !team.await_part() {
                return Ok(());
            }
        }
    })
}

/// The same with one thread: rows need not leave the cache.
fn alone<P>(
    input: &mut Input,
    run: usize,
    work: &Work<impl Fn() -> P, impl Fn(&mut P, Rows<'_>) -> Outcome<()>>,
    mut merge: impl FnMut(P) -> Outcome<()>,
) -> Outcome<()> {
    let mut spare = Vec::new();
    let (mut part, mut taken) = ((work.begin)(), 0);
    while let Some(piece) = input.next_piece(spare)? {
        let mut first = 0;
        while first < piece.count() {
            if taken == run {
                merge(std::mem::replace(&mut part, (work.begin)()))?;
                taken = 0;
            }
            let rows = piece.rows(first, run - taken);
            first += rows.count;
            taken += rows.count;
            (work.take)(&mut part, rows)?;
        }
        spare = piece.into_memory();
    }
    if taken > 0 { merge(part) } else { Ok(()) }
}

/// Some rows that lie together.
struct Piece {
    rows: Arc<TakenRows>,
    first: usize,
    count: usize,
}

/// Where runs come from.
struct Feed<'a> {
    input: &'a mut Input,
    /// Read, but of a later run.
    rest: Option<Piece>,
}

struct State<P> {
    /// Runs taken; the first one is 0.
    taken: u64,
    /// Parts merged.
    merged: u64,
    parts: BTreeMap<u64, Outcome<P>>,
    /// No run is left to be taken.
    ended: bool,
    /// A thread panicked: its part will never come.
    broken: bool,
}

impl<P> Default for State<P> {
    fn default() -> Self {
        Self {
            taken: 0,
            merged: 0,
            parts: BTreeMap::new(),
            ended: false,
            broken: false,
        }
    }
}

struct Team<'a, P> {
    /// Locked before the state, if both are.
    feed: Mutex<Feed<'a>>,
    /// Memory for rows.
    spares: Mutex<Vec<Vec<u8>>>,
    state: Mutex<State<P>>,
    changed: Condvar,
    /// Rows of a run.
    rows: usize,
    /// Runs that may be taken and not merged.
    most: u64,
}

/// Nobody takes runs any more once this goes.
struct End<'a, 'b, P>(&'a Team<'b, P>);

impl<P> Drop for End<'_, '_, P> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.ended = true;
        state.broken |= thread::panicking();
        drop(state);
        self.0.changed.notify_all();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Feed<'_> {
    /// Reads the next `most` rows.
    fn run(&mut self, most: usize, spares: &Mutex<Vec<Vec<u8>>>) -> Outcome<Vec<Piece>> {
        let (mut run, mut wanted) = (Vec::new(), most);
        while wanted > 0 {
            let Some(mut piece) = self.piece(spares)? else {
                break;
            };
            if piece.count > wanted {
                self.rest = Some(Piece {
                    rows: piece.rows.clone(),
                    first: piece.first + wanted,
                    count: piece.count - wanted,
                });
                piece.count = wanted;
            }
            wanted -= piece.count;
            run.push(piece);
        }
        Ok(run)
    }

    fn piece(&mut self, spares: &Mutex<Vec<Vec<u8>>>) -> Outcome<Option<Piece>> {
        if let Some(rest) = self.rest.take() {
            return Ok(Some(rest));
        }
        let spare = locked(spares).pop().unwrap_or_default();
        let taken = self.input.next_piece(spare)?;
        Ok(taken.map(|rows| Piece {
            first: 0,
            count: rows.count(),
            rows: Arc::new(rows),
        }))
    }
}

impl<P> Team<'_, P> {
    fn state(&self) -> MutexGuard<'_, State<P>> {
        locked(&self.state)
    }

    /// Takes a run and makes its part; false if none is left or, unless this may `wait`, too many are
    /// not merged yet.
    fn one(
        &self,
        work: &Work<impl Fn() -> P, impl Fn(&mut P, Rows<'_>) -> Outcome<()>>,
        wait: bool,
    ) -> bool {
        let Some((number, run)) = self.take(wait) else {
            return false;
        };
        let part = run.and_then(|run| {
            let mut part = (work.begin)();
            for piece in &run {
                (work.take)(&mut part, piece.rows.rows(piece.first, piece.count))?;
            }
            self.give_back(run);
            Ok(part)
        });
        let mut state = self.state();
        state.ended |= part.is_err();
        state.parts.insert(number, part);
        drop(state);
        self.changed.notify_all();
        true
    }

    /// The next run and its number.
    fn take(&self, wait: bool) -> Option<(u64, Outcome<Vec<Piece>>)> {
        let mut feed = locked(&self.feed);
        let mut state = self.state();
        while !state.ended && state.taken - state.merged >= self.most {
            drop(feed);
            if !wait {
                return None;
            }
            drop(self.changed.wait(state));
            feed = locked(&self.feed);
            state = self.state();
        }
        if state.ended {
            return None;
        }
        let number = state.taken;
        state.taken += 1;
        drop(state);
        let run = feed.run(self.rows, &self.spares);
        if run.as_ref().map_or(true, Vec::is_empty) {
            let mut state = self.state();
            state.ended = true;
            if run.is_ok() {
                state.taken = number;
                drop(state);
                self.changed.notify_all();
                return None;
            }
        }
        drop(feed);
        Some((number, run))
    }

    /// The memory of rows that nobody else holds is filled again.
    fn give_back(&self, run: Vec<Piece>) {
        let own = run
            .into_iter()
            .filter_map(|piece| Arc::into_inner(piece.rows));
        let memory: Vec<Vec<u8>> = own.map(TakenRows::into_memory).collect();
        locked(&self.spares).extend(memory);
    }

    /// The part to be merged next, if it is made.
    fn next_part(&self) -> Option<Outcome<P>> {
        let mut state = self.state();
        let next = state.merged;
        state.parts.remove(&next)
    }

    fn merged(&self) {
        self.state().merged += 1;
        self.changed.notify_all();
    }

    /// Waits for the part to be merged next; false if all are merged.
    fn await_part(&self) -> bool {
        let mut state = self.state();
        loop {
            if state.broken || (state.ended && state.merged == state.taken) {
                return false;
            }
            if state.parts.contains_key(&state.merged) {
                return true;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}
