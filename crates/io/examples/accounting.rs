//! What accounting costs: cached 128 KiB reads through a store with and without it, in rotation.
//!
//! `cargo run --release -p gristmill-io --example accounting`
//!
//! The bar is 1 % of a read. The two are run in turn on the same file; medians of CPU time decide.

#![expect(clippy::print_stdout, reason = "it prints its result")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use base::meter::Meter;
use base::store::{Access, Channel, Store, StoreFile};
use io::account::{AccountedStore, Accounts};
use io::live::{LiveMemory, LiveSlot};
use io::process::ProcessMeter;
use io::real::RealStore;

const BLOCK: usize = 128 << 10;
/// 1 GiB: larger than processor caches, so that a read costs what it costs a job.
const FILE_BLOCKS: u64 = 8192;
const PASSES: u64 = 1;
const ROTATIONS: usize = 11;

fn main() {
    let path = Path::new("/var/tmp").join(format!("accounting-{}", std::process::id()));
    let length = usize::try_from(FILE_BLOCKS).expect("a small number") * BLOCK;
    fs::write(&path, vec![1; length]).expect("/var/tmp can be written");
    let accounts = Arc::new(Accounts::default());
    let plain = open(&RealStore::default(), &path);
    let accounted = open(&AccountedStore::new(RealStore::default(), accounts), &path);
    let meter = ProcessMeter::start();
    read_all(plain.as_ref());
    let mut ns_per_read = [Vec::new(), Vec::new()];
    for _ in 0..ROTATIONS {
        for (file, times) in [&plain, &accounted].into_iter().zip(&mut ns_per_read) {
            let before = meter.usage();
            read_all(file.as_ref());
            let after = meter.usage();
            let cpu = (after.user + after.system).saturating_sub(before.user + before.system);
            times.push(cpu.as_nanos() as f64 / (FILE_BLOCKS * PASSES) as f64);
        }
    }
    let [plain_ns, accounted_ns] = ns_per_read.map(|mut times| {
        times.sort_by(f64::total_cmp);
        (times[0], times[times.len() / 2], times[times.len() - 1])
    });
    let show = |name: &str, (least, median, most): (f64, f64, f64)| {
        println!("{name:<10} min {least:>8.0}  median {median:>8.0}  max {most:>8.0} ns per read");
    };
    show("plain", plain_ns);
    show("accounted", accounted_ns);
    let seen = (accounted_ns.1 / plain_ns.1 - 1.0) * 100.0;
    println!("accounted reads take {seen:+.2} % CPU time (medians; the noise is as large)");
    let memory = LiveMemory::create(1).expect("there is memory");
    let slot = LiveSlot::open(&memory.path(), 0).expect("it was just made");
    for (what, accounts) in [
        ("an accounted call", Arc::new(Accounts::default())),
        ("one that is shown too", Arc::new(Accounts::shown_in(slot))),
    ] {
        let own = overhead_ns(accounts);
        let share = own / plain_ns.1 * 100.0;
        println!("{what} adds {own:.0} ns: {share:.2} % of a cached 128 KiB read");
    }
    fs::remove_file(&path).expect("it was just written");
}

fn open(store: &dyn Store, path: &Path) -> Box<dyn StoreFile> {
    store
        .open(Channel::Input, path, Access::Read)
        .expect("the file is there")
}

fn read_all(file: &dyn StoreFile) {
    let mut buffer = vec![0; BLOCK];
    for _ in 0..PASSES {
        for block in 0..FILE_BLOCKS {
            let read = file
                .read_at(block * BLOCK as u64, &mut buffer)
                .expect("it can be read");
            assert_eq!(read, BLOCK);
        }
    }
}

/// Cost of an accounted call that does nothing: a write to the null store.
fn overhead_ns(accounts: Arc<Accounts>) -> f64 {
    const CALLS: u32 = 2_000_000;
    let store = AccountedStore::new(base::store::null::NullStore, accounts);
    let file = store
        .create(
            Channel::Output,
            Path::new("/null"),
            base::store::Creation::New,
        )
        .expect("the null store takes everything");
    let meter = ProcessMeter::start();
    let before = meter.usage();
    for call in 0..CALLS {
        file.write_at(u64::from(call), b"x")
            .expect("the null store takes everything");
    }
    let after = meter.usage();
    let cpu = (after.user + after.system).saturating_sub(before.user + before.system);
    cpu.as_nanos() as f64 / f64::from(CALLS)
}
