//! Reads and writes are those that SAS would do: one a page, in order; and every failure is told.

mod support;

use std::io;

use sas7bdat::{Compression, Error, Layout, Reader, Sink, Source, Variable, WriteOptions, Writer};

/// Bytes that note who asked for what, and fail at one call.
#[derive(Debug, Default)]
struct Noted {
    bytes: Vec<u8>,
    calls: Vec<(&'static str, u64, usize)>,
    fail_at: Option<usize>,
    /// Hands out at most so many bytes a call.
    most: Option<usize>,
}

impl Noted {
    fn note(&mut self, what: &'static str, offset: u64, bytes: usize) -> io::Result<()> {
        self.calls.push((what, offset, bytes));
        if self.fail_at == Some(self.calls.len() - 1) {
            return Err(io::Error::other("the disk is gone"));
        }
        Ok(())
    }
}

impl Source for Noted {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.note("read", offset, buffer.len())?;
        let most = self.most.unwrap_or(buffer.len()).min(buffer.len());
        self.bytes.read_at(offset, &mut buffer[..most])
    }

    fn size(&mut self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }
}

impl Sink for &mut Noted {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.note("write", offset, bytes.len())?;
        self.bytes.write_at(offset, bytes)
    }

    fn rewrite_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.note("rewrite", offset, bytes.len())?;
        self.bytes.write_at(offset, bytes)
    }
}

const PAGE: usize = 4096;
const COMPRESSIONS: [Compression; 3] = [Compression::None, Compression::Char, Compression::Binary];

fn write(sink: &mut Noted, compression: Compression, rows: u64) -> Result<(), Error> {
    let variables = [Variable::numeric("x"), Variable::character("c", 100)];
    let row_bytes = Layout::new(&variables, compression).row_bytes as usize;
    let page_bytes = u32::try_from(PAGE).unwrap();
    let options = WriteOptions {
        compression,
        page_bytes,
        ..WriteOptions::default()
    };
    let mut writer = Writer::create(sink, &variables, options)?;
    for number in 0..rows {
        let mut row = vec![b' '; row_bytes];
        row[..8].copy_from_slice(&number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes());
        row[8..12].copy_from_slice(b"text");
        writer.write_row(&row)?;
    }
    writer.finish()?;
    Ok(())
}

fn read(source: &mut Noted) -> Result<u64, Error> {
    let mut reader = Reader::open(source)?;
    let mut rows = 0;
    while reader.next_row()?.is_some() {
        rows += 1;
    }
    Ok(rows)
}

#[test]
fn pages_are_written_once_in_order_and_completed_at_close() {
    for compression in COMPRESSIONS {
        let mut noted = Noted::default();
        write(&mut noted, compression, 1000).unwrap();
        let first = noted
            .calls
            .iter()
            .position(|call| call.0 == "rewrite")
            .unwrap();
        let (written, completed) = noted.calls.split_at(first);
        for (number, call) in written.iter().enumerate() {
            assert_eq!(*call, ("write", (number * PAGE) as u64, PAGE));
        }
        let pages: Vec<u64> = completed.iter().map(|call| call.1 / PAGE as u64).collect();
        let expected: &[u64] = if compression == Compression::None {
            &[1, 0]
        } else {
            &[1, 2, 0]
        };
        assert_eq!(pages, expected);
        assert!(
            completed
                .iter()
                .all(|call| call.0 == "rewrite" && call.2 == PAGE)
        );
    }
}

#[test]
fn pages_are_read_once_in_order() {
    for compression in COMPRESSIONS {
        let mut noted = Noted::default();
        write(&mut noted, compression, 1000).unwrap();
        noted.calls.clear();
        assert_eq!(read(&mut noted).unwrap(), 1000);
        let (header, pages) = noted.calls.split_first().unwrap();
        assert_eq!(*header, ("read", 0, 1024));
        for (number, call) in pages.iter().enumerate() {
            assert_eq!(*call, ("read", ((number + 1) * PAGE) as u64, PAGE));
        }
        assert_eq!((pages.len() + 1) * PAGE, noted.bytes.len());
    }
}

#[test]
fn the_first_rows_take_no_more_than_their_pages() {
    for compression in COMPRESSIONS {
        let mut noted = Noted::default();
        write(&mut noted, compression, 1000).unwrap();
        noted.calls.clear();
        let mut reader = Reader::open(&mut noted).unwrap();
        for _ in 0..5 {
            assert!(reader.next_row().unwrap().is_some());
        }
        drop(reader);
        assert_eq!(noted.calls.len(), 2);
    }
}

#[test]
fn seeking_reads_only_what_it_needs_and_finds_the_row() {
    for compression in COMPRESSIONS {
        let mut noted = Noted::default();
        write(&mut noted, compression, 1000).unwrap();
        let mut all = Vec::new();
        let mut reader = Reader::open(&mut noted).unwrap();
        while let Some(row) = reader.next_row().unwrap() {
            all.push(row.to_vec());
        }
        for row in [0usize, 999, 500, 3, 501, 30, 31, 29, 998, 1] {
            reader.seek_row(row as u64).unwrap();
            assert_eq!(reader.position(), row as u64);
            assert_eq!(
                reader.next_row().unwrap(),
                Some(all[row].as_slice()),
                "row {row}"
            );
            assert_eq!(
                reader.next_row().unwrap(),
                all.get(row + 1).map(Vec::as_slice)
            );
        }
        reader.seek_row(1000).unwrap();
        assert_eq!(reader.next_row().unwrap(), None);
        let error = reader.seek_row(1001).err();
        assert!(matches!(
            error,
            Some(Error::RowOutOfRange {
                row: 1001,
                rows: 1000
            })
        ));
        drop(reader);
        noted.calls.clear();
        let mut reader = Reader::open(&mut noted).unwrap();
        reader.seek_row(700).unwrap();
        reader.next_row().unwrap();
        drop(reader);
        assert!(noted.calls.len() <= 6, "{:?}", noted.calls);
    }
}

#[test]
fn every_failing_read_or_write_is_told() {
    for compression in COMPRESSIONS {
        let mut whole = Noted::default();
        write(&mut whole, compression, 300).unwrap();
        for fail_at in 0..whole.calls.len() {
            let mut noted = Noted {
                fail_at: Some(fail_at),
                ..Noted::default()
            };
            let error = write(&mut noted, compression, 300).err();
            assert!(
                matches!(
                    error,
                    Some(Error::Io {
                        action: "write",
                        ..
                    })
                ),
                "{fail_at}"
            );
        }
        let mut source = Noted {
            bytes: whole.bytes,
            ..Noted::default()
        };
        read(&mut source).unwrap();
        for fail_at in 0..source.calls.len() {
            let bytes = source.bytes.clone();
            let mut noted = Noted {
                fail_at: Some(fail_at),
                bytes,
                ..Noted::default()
            };
            let error = read(&mut noted).err();
            assert!(
                matches!(error, Some(Error::Io { action: "read", .. })),
                "{fail_at}"
            );
        }
    }
}

#[test]
fn sources_may_hand_out_a_few_bytes_at_a_time() {
    let mut noted = Noted::default();
    write(&mut noted, Compression::Char, 300).unwrap();
    noted.most = Some(100);
    assert_eq!(read(&mut noted).unwrap(), 300);
}
