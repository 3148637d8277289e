//! The data set options by name: what reads each, and what there is of it.

use base::units::{Bytes, parse_size};
use lang::ast::DatasetOptionValue as Value;
use lang::{Support, Word};

use super::DatasetOptions;
use crate::index::definition::Definition;
use crate::options::compression;

/// Takes the value of an option.
type Read = for<'a> fn(&mut DatasetOptions<'a>, &'a Value) -> Result<(), String>;

/// A data set option.
pub(super) struct Entry {
    /// Upper case.
    name: &'static str,
    /// `None` for what is known and refused.
    read: Option<Read>,
    support: Support,
}

const fn option(name: &'static str, read: Read, support: Support) -> Entry {
    Entry {
        name,
        read: Some(read),
        support,
    }
}

const fn refused(name: &'static str) -> Entry {
    Entry {
        name,
        read: None,
        support: Support::all(""),
    }
}

const EVERYWHERE: Support = Support::all("");
const INPUT: Support = Support::all("input");
const OUTPUT: Support = Support::all("output");

static OPTIONS: &[Entry] = &[
    option("BUFSIZE", bufsize, OUTPUT),
    option(
        "COMPRESS",
        |options, value| {
            options.compress = Some(compression(text(value)?)?);
            Ok(())
        },
        OUTPUT,
    ),
    option(
        "DROP",
        |options, value| {
            if let Value::Variables(list) = value {
                options.drop = Some(list);
            }
            Ok(())
        },
        EVERYWHERE,
    ),
    option(
        "FIRSTOBS",
        |options, value| {
            options.firstobs = Some(count("FIRSTOBS", text(value)?)?.max(1));
            Ok(())
        },
        INPUT,
    ),
    option("IDXWHERE", idxwhere, INPUT),
    option(
        "IN",
        |_, _| Err("The data set option IN= is valid only in SET, MERGE and UPDATE.".to_owned()),
        Support::all("SET, MERGE, UPDATE"),
    ),
    option(
        "INDEX",
        |options, value| {
            let parsed = Definition::parse_all(text(value)?);
            options.indexes = parsed.map_err(|message| format!("INDEX=: {message}."))?;
            Ok(())
        },
        Support::part("output", "NOMISS"),
    ),
    option(
        "KEEP",
        |options, value| {
            if let Value::Variables(list) = value {
                options.keep = Some(list);
            }
            Ok(())
        },
        EVERYWHERE,
    ),
    option(
        "LABEL",
        |options, value| {
            options.label = Some(text(value)?);
            Ok(())
        },
        OUTPUT,
    ),
    option(
        "OBS",
        |options, value| {
            options.obs = Some(count("OBS", text(value)?)?);
            Ok(())
        },
        INPUT,
    ),
    option(
        "RENAME",
        |options, value| {
            if let Value::Renames(pairs) = value {
                options.rename = pairs;
            }
            Ok(())
        },
        Support::part("pairs of names", "lists"),
    ),
    option(
        "WHERE",
        |options, value| {
            if let Value::Where(condition) = value {
                options.condition = Some(condition);
            }
            Ok(())
        },
        EVERYWHERE,
    ),
    refused("ALTER"),
    refused("AUTHLIB"),
    refused("BUFNO"),
    refused("CNTLLEV"),
    refused("DLDMGACTION"),
    refused("ENCODING"),
    refused("ENCRYPT"),
    refused("ENCRYPTKEY"),
    refused("EXTENDOBSCOUNTER"),
    refused("FILECLOSE"),
    refused("GENMAX"),
    refused("GENNUM"),
    refused("IDXNAME"),
    refused("OBSBUF"),
    refused("OUTREP"),
    refused("POINTOBS"),
    refused("PW"),
    refused("PWREQ"),
    refused("READ"),
    refused("REPEMPTY"),
    refused("REPLACE"),
    refused("REUSE"),
    refused("ROLE"),
    refused("SORTEDBY"),
    refused("SPILL"),
    refused("TOBSNO"),
    refused("TYPE"),
    refused("WHEREUP"),
    refused("WRITE"),
];

/// Reads the option `name`, upper case.
///
/// Errors are sentences.
pub(super) fn read<'a>(
    options: &mut DatasetOptions<'a>,
    name: &str,
    value: &'a Value,
) -> Result<(), String> {
    match OPTIONS.iter().find(|entry| entry.name == name) {
        Some(Entry {
            read: Some(read), ..
        }) => read(options, value),
        Some(_) => Err(format!(
            "The data set option {name}= is not implemented yet."
        )),
        None => Err(format!("The data set option {name}= is not recognized.")),
    }
}

/// The data set options, for COMPAT.md.
pub fn dataset_options() -> impl Iterator<Item = Word> {
    OPTIONS.iter().map(|entry| Word {
        name: entry.name,
        support: entry.read.map(|_| entry.support),
    })
}

fn text(value: &Value) -> Result<&str, String> {
    match value {
        Value::Text(text) => Ok(text),
        _ => Err("The value of this data set option is a text.".to_owned()),
    }
}

fn bufsize(options: &mut DatasetOptions<'_>, value: &Value) -> Result<(), String> {
    let text = text(value)?;
    let size = parse_size(text).filter(|size| size.0 <= base::limits::PAGE_BYTES_MAX);
    let Some(Bytes(bytes)) = size else {
        return Err(format!(
            "BUFSIZE={text} is not valid; give a size such as 128k."
        ));
    };
    options.bufsize = Some(bytes);
    Ok(())
}

fn idxwhere(options: &mut DatasetOptions<'_>, value: &Value) -> Result<(), String> {
    let text = text(value)?;
    options.idxwhere = Some(match text.to_ascii_uppercase().as_str() {
        "YES" => true,
        "NO" => false,
        _ => return Err(format!("IDXWHERE={text} is not valid; use YES or NO.")),
    });
    Ok(())
}

fn count(name: &str, text: &str) -> Result<u64, String> {
    if text.eq_ignore_ascii_case("max") {
        return Ok(u64::MAX);
    }
    parse_size(text)
        .map(|number| number.0)
        .ok_or_else(|| format!("{name}={text} is not valid; give a number of observations or MAX."))
}
