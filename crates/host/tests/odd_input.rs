//! Whatever the kernel writes, no parser panics.

use host::{block_devices, cores, file_systems, memory, network, nfs, pressure, processors};

/// Every parser on a text, whatever it is.
fn parse_all(text: &str) {
    block_devices::parse(text);
    cores::is_virtual(text);
    file_systems::parse(text);
    memory::parse(text);
    network::parse(text);
    nfs::parse(text);
    pressure::parse(text);
    processors::parse(text, |_| true);
    processors::online(text);
    processors::parse_process(text);
}

#[test]
fn captured_texts_cut_anywhere_and_changed_anywhere_are_no_trouble() {
    let texts = [
        include_str!("../src/captured/diskstats"),
        include_str!("../src/captured/mountinfo"),
        include_str!("../src/captured/mountstats"),
        include_str!("../src/captured/net_dev"),
        include_str!("../src/captured/stat"),
        "1 (init) S 0 1 1 0 -1 4194560 1 1 1 1 10 20 0 0 20 0 1 0 2\n",
        "some avg10=0.23 avg60=1.35 avg300=1.31 total=851806114\n",
        "MemTotal: 1 kB\nMemAvailable: 1 kB\nCached: 1 kB\nDirty: 1 kB\nWriteback: 1 kB\n",
    ];
    for text in texts {
        for at in 0..text.len() {
            parse_all(&text[..at]);
            parse_all(&text[at..]);
            for odd in [
                " ",
                "\n",
                ":",
                "-",
                "9999999999999999999999",
                "\u{fffd}",
                "\\777",
            ] {
                parse_all(&format!("{}{odd}{}", &text[..at], &text[at + 1..]));
            }
        }
    }
}
