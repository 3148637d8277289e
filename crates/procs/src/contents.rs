//! PROC CONTENTS: what a data set says of itself and its variables, without reading its rows.

use base::diag::Span;
use engine::dataset::input::Input;
use engine::failure::Outcome;
use engine::log::iso_datetime;
use engine::procedure::{Procedure, Support};
use engine::session::World;
use lang::ast::{DatasetRef, ProcStep};
use lang::cursor::Cursor;
use sas7bdat::{Compression, Endian, Format, Kind, Metadata, Variable};

use crate::datasets::{list, members};
use crate::target::{dataset_in, input_or_last, library, no_statements, unknown};

/// PROC CONTENTS.
pub(crate) struct Contents;

impl Procedure for Contents {
    fn name(&self) -> &'static str {
        "CONTENTS"
    }

    fn support(&self) -> Support {
        Support {
            yes: "DATA= (also _ALL_ of a library), NODS, VARNUM, NOPRINT",
            no: "OUT=, DIRECTORY, SHORT",
        }
    }

    fn check(&self, step: &ProcStep, _: &mut World) -> Outcome<()> {
        request(step).map(drop)
    }

    fn run(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        request(step)?.run(world, &step.span)
    }
}

fn request(step: &ProcStep) -> Outcome<Request> {
    let mut cursor = Cursor::new(&step.options, &step.span);
    let request = Request::read(&mut cursor, "CONTENTS", None)?;
    no_statements(step, "CONTENTS")?;
    Ok(request)
}

/// What is to be told of which data set.
pub(crate) struct Request {
    data: Option<DatasetRef>,
    by_position: bool,
    print: bool,
    /// NODS: of all data sets of a library only the directory.
    headings_only: bool,
}

impl Request {
    /// The options of PROC CONTENTS, or of a CONTENTS statement about a data set of `library`.
    pub(crate) fn read(
        cursor: &mut Cursor<'_>,
        procedure: &str,
        library: Option<&str>,
    ) -> Outcome<Self> {
        let (mut data, mut by_position, mut print) = (None, false, true);
        let mut headings_only = false;
        while let Some(word) = cursor.peek_word() {
            match word.to_ascii_uppercase().as_str() {
                "DATA" => {
                    cursor.expect_word("DATA")?;
                    data = Some(dataset_in(cursor, library)?);
                    continue;
                }
                "VARNUM" | "POSITION" => by_position = true,
                "NOPRINT" => print = false,
                "NODS" => headings_only = true,
                _ => return Err(unknown(cursor, procedure, "option")),
            }
            cursor.next();
        }
        cursor.expect_end()?;
        Ok(Self {
            data,
            by_position,
            print,
            headings_only,
        })
    }

    /// Prints it.
    pub(crate) fn run(self, world: &mut World, span: &Span) -> Outcome<()> {
        let data = input_or_last(self.data, world, span)?;
        let wanted = if data.member.eq_ignore_ascii_case("_ALL_") {
            let libref = data.libref.as_deref().unwrap_or("WORK");
            let library = library(world, libref, &data.span)?;
            if self.print {
                list(world, "CONTENTS", &library)?;
            }
            if self.headings_only {
                return Ok(());
            }
            let one = |member| DatasetRef {
                member,
                ..data.clone()
            };
            members(world, &library)?.into_iter().map(one).collect()
        } else {
            vec![data]
        };
        for data in wanted {
            let input = Input::open(world, &data)?;
            if self.print {
                let name = input.member().full_name();
                let path = input.member().path();
                let metadata = input.metadata().clone();
                describe(world, &name, &path.display().to_string(), &metadata);
                list_variables(world, &metadata, self.by_position);
            }
            input.close(world)?;
        }
        Ok(())
    }
}

fn describe(world: &mut World, name: &str, path: &str, metadata: &Metadata) {
    let listing = &mut world.listing;
    listing.begin();
    listing.line("The CONTENTS Procedure");
    listing.line("");
    let compressed = match metadata.compression {
        Compression::None => "NO",
        Compression::Char => "CHAR",
        Compression::Binary => "BINARY",
    };
    let representation = format!(
        "{}-bit, {} endian, {}",
        metadata.word_bits,
        if metadata.endian == Endian::Big {
            "big"
        } else {
            "little"
        },
        metadata.host
    );
    let pairs = [
        ("Data Set Name", name.to_owned()),
        ("Observations", metadata.rows.to_string()),
        ("Member Type", "DATA".to_owned()),
        ("Variables", metadata.variables.len().to_string()),
        ("Engine", "V9".to_owned()),
        ("Observation Length", metadata.layout.row_bytes.to_string()),
        ("Created", iso_datetime(metadata.created)),
        ("Last Modified", iso_datetime(metadata.modified)),
        ("Deleted Observations", metadata.deleted_rows.to_string()),
        ("Compressed", compressed.to_owned()),
        ("Label", metadata.label.clone()),
        ("Data Representation", representation),
        ("Encoding", metadata.encoding.name.to_owned()),
        ("Data Set Page Size", metadata.page_bytes.to_string()),
        ("Header Size", metadata.header_bytes.to_string()),
        ("Number of Data Set Pages", metadata.pages.to_string()),
        ("First Data Page", metadata.first_data_page.to_string()),
        ("Max Obs per Page", metadata.rows_per_page.to_string()),
        (
            "Obs in First Data Page",
            metadata.mix_rows.min(metadata.rows).to_string(),
        ),
        ("Release Created", metadata.release.clone()),
        ("Host Created", metadata.os_name.clone()),
        ("File Name", path.to_owned()),
    ];
    for (label, value) in pairs {
        listing.line(&format!("{label:<26}{value}"));
    }
    listing.line("");
}

fn list_variables(world: &mut World, metadata: &Metadata, by_position: bool) {
    let mut numbered: Vec<(usize, &Variable)> = metadata.variables.iter().enumerate().collect();
    let heading = if by_position {
        "Variables in Creation Order"
    } else {
        numbered.sort_by_key(|(_, variable)| variable.name.to_ascii_uppercase());
        "Alphabetic List of Variables and Attributes"
    };
    let listing = &mut world.listing;
    listing.line(heading);
    listing.line("");
    let widest = |of: fn(&Variable) -> usize, least: usize| {
        metadata
            .variables
            .iter()
            .map(of)
            .max()
            .unwrap_or(0)
            .max(least)
    };
    let name_width = widest(|v| v.name.chars().count(), 8);
    let format_width = widest(|v| shown(&v.format, v.kind).len(), 6);
    let informat_width = widest(|v| shown(&v.informat, v.kind).len(), 8);
    listing.line(&format!(
        "{:>6}  {:<name_width$}  Type  {:>5}  {:<format_width$}  {:<informat_width$}  Label",
        "#", "Variable", "Len", "Format", "Informat"
    ));
    listing.line("");
    for (index, variable) in numbered {
        let kind = if variable.kind == Kind::Numeric {
            "Num"
        } else {
            "Char"
        };
        listing.line(&format!(
            "{:>6}  {:<name_width$}  {kind:<4}  {:>5}  {:<format_width$}  {:<informat_width$}  {}",
            index + 1,
            variable.name,
            variable.length,
            shown(&variable.format, variable.kind),
            shown(&variable.informat, variable.kind),
            variable.label,
        ));
    }
    listing.end();
}

/// `BEST12.`, `8.2`, `$20.`; empty if there is no format.
pub(crate) fn shown(format: &Format, kind: Kind) -> String {
    if format.name.is_empty() && format.width == 0 {
        return String::new();
    }
    let mark = if kind == Kind::Character && !format.name.starts_with('$') {
        "$"
    } else {
        ""
    };
    let width = if format.width == 0 {
        String::new()
    } else {
        format.width.to_string()
    };
    let decimals = if format.decimals == 0 {
        String::new()
    } else {
        format.decimals.to_string()
    };
    format!("{mark}{}{width}.{decimals}", format.name)
}
