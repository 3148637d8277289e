//! Parquet on one side: in a crate of its own, which is compiled only when asked for.

#[cfg(feature = "parquet")]
pub use with::{read, write};
#[cfg(not(feature = "parquet"))]
pub use without::{read, write};

#[cfg(feature = "parquet")]
mod with {
    use std::fs::File;
    use std::path::Path;

    use anyhow::{Context, Error, Result, anyhow};
    use gristmill_parquet::Table;

    use super::super::super::args::ShapeArgs;
    use super::super::super::files::{NewDataSet, NewFile, Stored, open_data_set};
    use super::super::super::progress::Progress;
    use super::super::super::value::counted;
    use super::super::infer::{label_renamed, names};
    use super::super::{Converted, undecodable};

    /// SAS7BDAT to Parquet.
    pub fn write(input: &Path, output: &Path, force: bool) -> Result<Converted> {
        let mut reader = open_data_set(input)?;
        let row_bytes = u64::from(reader.metadata().layout.row_bytes);
        let total_bytes = reader.metadata().rows * row_bytes;
        let mut progress = Progress::new(input.display().to_string(), total_bytes);
        let (new, file) = NewFile::create(output, ".part", force)?;
        let written = gristmill_parquet::write(&mut reader, Stored::new(file), |rows| {
            progress.advance(rows * row_bytes);
        });
        let (stored, rows, lost) = written.map_err(|error| match error {
            gristmill_parquet::Error::DataSet(_) => failed(input, &error),
            other => new.explain(Error::new(other)),
        })?;
        new.finish(stored.into_file())?;
        let losses = [
            (
                lost.special_missing,
                "special missing value",
                "(.A to .Z, ._) became null",
            ),
            (
                lost.parts_of_days,
                "date",
                "had a part of a day, which was dropped",
            ),
            (
                lost.rounded_moments,
                "datetime",
                "had a part of a microsecond and were rounded",
            ),
            (
                lost.out_of_range,
                "date or datetime value",
                "beyond those of Parquet became null",
            ),
        ];
        let there = losses.iter().filter(|(count, ..)| *count > 0);
        let notes = there.map(|(count, noun, what)| format!("{} {what}", counted(*count, noun)));
        let mut notes: Vec<String> = notes.collect();
        notes.extend(undecodable(lost.undecodable, reader.metadata().encoding));
        Ok(Converted {
            rows,
            columns: reader.metadata().variables.len(),
            notes,
        })
    }

    /// Parquet to SAS7BDAT.
    pub fn read(input: &Path, output: &Path, shape: ShapeArgs) -> Result<Converted> {
        let open = || format!("failed to open {}", input.display());
        let file = File::open(input).with_context(open)?;
        let mut table = Table::open(file).map_err(|error| failed(input, &error))?;
        let headers: Vec<String> = table.names().map(str::to_owned).collect();
        let variables = table.variables(names(&headers));
        let mut variables = variables.map_err(|error| failed(input, &error))?;
        label_renamed(&mut variables, &headers);
        let mut data_set = NewDataSet::create(output, &variables, shape, 0)?;
        let layout = data_set.layout().clone();
        let row_bytes = u64::from(layout.row_bytes);
        let total_bytes = table.rows() * row_bytes;
        let mut progress = Progress::new(input.display().to_string(), total_bytes);
        let read = table.read(&variables, &layout, |slab| {
            progress.advance(slab.len() as u64);
            data_set.write_slab(slab).map_err(Stopped::Write)
        });
        read.map_err(|stopped| match stopped {
            Stopped::Read(error) => failed(input, &error),
            Stopped::Write(error) => error,
        })?;
        let written = data_set.finish()?;
        let mut notes = Vec::new();
        if table.rounded() > 0 {
            let values = counted(table.rounded(), "number");
            notes.push(format!(
                "{values} with more digits than a double holds lost some"
            ));
        }
        if table.infinite() > 0 {
            let values = counted(table.infinite(), "infinite number");
            notes.push(format!("{values} became missing; SAS has none"));
        }
        Ok(Converted {
            rows: written.rows,
            columns: variables.len(),
            notes,
        })
    }

    enum Stopped {
        Read(gristmill_parquet::Error),
        Write(Error),
    }

    impl From<gristmill_parquet::Error> for Stopped {
        fn from(error: gristmill_parquet::Error) -> Self {
            Self::Read(error)
        }
    }

    fn failed(path: &Path, error: &gristmill_parquet::Error) -> Error {
        anyhow!("{}: failed to {error}", path.display())
    }
}

#[cfg(not(feature = "parquet"))]
mod without {
    use std::path::Path;

    use anyhow::{Result, bail};

    use super::super::super::args::ShapeArgs;
    use super::super::Converted;

    /// SAS7BDAT to Parquet.
    pub fn write(_input: &Path, _output: &Path, _force: bool) -> Result<Converted> {
        not_built_in()
    }

    /// Parquet to SAS7BDAT.
    pub fn read(_input: &Path, _output: &Path, _shape: ShapeArgs) -> Result<Converted> {
        not_built_in()
    }

    fn not_built_in() -> Result<Converted> {
        bail!(
            "this gristmill was built without Parquet; build one that has it with \
             `cargo build --release --package gristmill --features parquet`"
        )
    }
}
