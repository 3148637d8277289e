//! Formats in data sets: CNTLIN= and CNTLOUT=.

use engine::dataset::input::{Field, Input};
use engine::failure::{Failure, Outcome};
use engine::format::user::{Ends, Formats, Label, Picture, Ranges, Reads, Shown, UserFormat};
use engine::format::{best, parse, read_number};
use engine::session::World;
use lang::ast::DatasetRef;
use lang::cursor::{Cursor, Parsed};
use sas7bdat::{Encoding, Kind, Variable, missing};

use super::keep;
use super::made::{Bound, Budget, Made, Options, Reach, add, as_text, checked, label_width};
use super::statements::datatype;
use crate::contents::shown;
use crate::table::Table;

/// Columns that numbers take as the ends of ranges.
const NUMBER_WIDTH: usize = 16;

/// One row of CNTLIN=, its variables by name.
struct Row<'a> {
    fields: &'a [Field],
    bytes: &'a [u8],
    encoding: Encoding,
}

impl Row<'_> {
    fn field(&self, name: &str) -> Option<&Field> {
        let mut fields = self.fields.iter();
        fields.find(|field| field.variable.name.eq_ignore_ascii_case(name))
    }

    /// A value as text, without blanks around it; numbers as BEST shows them.
    fn text(&self, name: &str) -> Option<String> {
        let field = self.field(name)?;
        Some(match field.variable.kind {
            Kind::Numeric => best(field.slot.number(self.bytes), 16).trim().to_owned(),
            Kind::Character => {
                let text = self.encoding.decode(field.slot.bytes(self.bytes));
                text.trim_matches([' ', '\0']).to_owned()
            }
        })
    }

    /// A label: its leading blanks belong to it.
    fn label(&self) -> String {
        match self.field("LABEL") {
            Some(field) if field.variable.kind == Kind::Character => {
                let text = self.encoding.decode(field.slot.bytes(self.bytes));
                text.trim_end_matches([' ', '\0']).to_owned()
            }
            _ => self.text("LABEL").unwrap_or_default(),
        }
    }

    fn number(&self, name: &str) -> Option<f64> {
        let field = self.field(name)?;
        let value = match field.variable.kind {
            Kind::Numeric => field.slot.number(self.bytes),
            Kind::Character => read_number(field.slot.bytes(self.bytes))?,
        };
        Some(value).filter(|value| !value.is_nan())
    }

    fn count(&self, name: &str) -> Option<u16> {
        let value = self.number(name).filter(|v| (1.0..=32_767.0).contains(v))?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range is checked before"
        )]
        let count = value as u16;
        Some(count)
    }

    fn character(&self, name: &str) -> Option<char> {
        self.text(name)?.chars().next()
    }

    fn says(&self, name: &str) -> bool {
        self.text(name)
            .is_some_and(|text| text.eq_ignore_ascii_case("Y"))
    }

    fn options(&self, hlo: &str) -> Options {
        Options {
            default: self.count("DEFAULT"),
            min: self.count("MIN"),
            max: self.count("MAX"),
            fuzz: self.number("FUZZ").filter(|fuzz| *fuzz >= 0.0),
            round: hlo.contains('R'),
            upcase: hlo.contains('U'),
            just: hlo.contains('J'),
        }
    }

    /// START or END.
    fn bound(&self, name: &str, text: bool) -> Outcome<Bound> {
        let field = self.field(name);
        let field = field.ok_or_else(|| absent(name))?;
        if text {
            let value = match field.variable.kind {
                Kind::Character => field.slot.bytes(self.bytes).to_vec(),
                Kind::Numeric => self.text(name).unwrap_or_default().into_bytes(),
            };
            let value = engine::expr::evaluate::trimmed(&value);
            return Ok(Bound::Text(value.into()));
        }
        if field.variable.kind == Kind::Numeric {
            return Ok(Bound::Number(field.slot.number(self.bytes)));
        }
        let text = self.text(name).unwrap_or_default();
        let special = match text.strip_prefix('.').unwrap_or(&text).as_bytes() {
            [code] if code.is_ascii_alphabetic() || *code == b'_' => {
                Some(missing::encode(code.to_ascii_uppercase()))
            }
            _ => None,
        };
        let value = special.or_else(|| read_number(text.as_bytes()));
        value.map(Bound::Number).ok_or_else(|| {
            Failure::world(format!(
                "The {name} value {text} of a numeric format is not a number."
            ))
        })
    }

    fn reach(&self, text: bool, hlo: &str) -> Outcome<Reach> {
        if hlo.contains('O') {
            return Ok(Reach {
                low: Bound::Other,
                above: false,
                high: None,
                below: false,
            });
        }
        let low = if hlo.contains('L') {
            Bound::Low
        } else {
            self.bound("START", text)?
        };
        let end = if self.field("END").is_some() {
            "END"
        } else {
            "START"
        };
        let high = if hlo.contains('H') {
            Bound::High
        } else {
            self.bound(end, text)?
        };
        Ok(Reach {
            low,
            above: self.says("SEXCL"),
            high: Some(high),
            below: self.says("EEXCL"),
        })
    }

    fn picture(&self) -> Outcome<Label> {
        let wrong = |what: &str| Failure::world(format!("{what} is not implemented yet."));
        let datatype = match self.text("DATATYPE").filter(|text| !text.is_empty()) {
            Some(name) => {
                Some(datatype(&name).ok_or_else(|| wrong(&format!("DATATYPE {name} of PICTURE")))?)
            }
            None => None,
        };
        if let Some(language) = self.text("LANGUAGE").filter(|text| !text.is_empty())
            && !language.eq_ignore_ascii_case("english")
        {
            return Err(wrong(&format!("LANGUAGE {language} of PICTURE")));
        }
        let picture = Picture {
            prefix: self.text("PREFIX").unwrap_or_default().into(),
            fill: self.character("FILL").unwrap_or(' '),
            multiplier: self.number("MULT").filter(|factor| *factor > 0.0),
            noedit: self.number("NOEDIT").is_some_and(|value| value != 0.0),
            decimal: self.character("DECSEP"),
            thousands: self.character("DIG3SEP"),
            datatype,
            ..Picture::new(&self.label())
        };
        checked(picture).map_err(|wrong| Failure::world(format!("{wrong}.")))
    }

    fn reads(&self, text: bool, hlo: &str) -> Outcome<Reads> {
        let label = self.label();
        if hlo.contains('F') {
            return Ok(Reads::Informat(Box::new(format_named(&label)?)));
        }
        Ok(match label.trim().to_ascii_uppercase().as_str() {
            "_SAME_" => Reads::Same,
            "_ERROR_" => Reads::Error,
            _ if text => Reads::Text(label.into()),
            _ => match read_number(label.as_bytes()) {
                Some(value) => Reads::Number(value),
                None => {
                    let message = format!("The label {label} of a numeric informat is no number.");
                    return Err(Failure::world(message));
                }
            },
        })
    }
}

fn absent(name: &str) -> Failure {
    Failure::world(format!(
        "Missing required variable {name} in the CNTLIN= data set."
    ))
}

fn format_named(text: &str) -> Outcome<sas7bdat::Format> {
    let dotted = if text.contains('.') {
        text.to_owned()
    } else {
        format!("{text}.")
    };
    let format = parse(dotted.trim());
    format.ok_or_else(|| Failure::world(format!("{text} is not the name of a format.")))
}

/// Ranges being gathered.
enum Gathered {
    Format(Ranges<Label>, bool),
    Informat(Ranges<Reads>, bool),
}

struct Group {
    name: String,
    kind: char,
    options: Options,
    gathered: Gathered,
}

impl Group {
    fn new(row: &Row<'_>, name: String, kind: char, hlo: &str) -> Outcome<Self> {
        let options = row.options(hlo);
        let gathered = match kind {
            'N' | 'C' => Gathered::Format(options.ranges(kind == 'C'), false),
            'P' => Gathered::Format(options.ranges(false), true),
            'I' | 'J' => Gathered::Informat(options.ranges(kind == 'J'), kind == 'J'),
            other => {
                let message = format!("TYPE {other} of the CNTLIN= data set is not valid.");
                return Err(Failure::world(message));
            }
        };
        Ok(Self {
            name,
            kind,
            options,
            gathered,
        })
    }

    fn add(&mut self, row: &Row<'_>, hlo: &str, budget: &mut Budget) -> Outcome<()> {
        // `I`: the range of an informat is of numbers, not of texts.
        let text = match self.kind {
            'C' | 'J' => true,
            'I' => !hlo.contains('I'),
            _ => false,
        };
        let reach = row.reach(text, hlo)?;
        let reach = if text { as_text(reach) } else { reach };
        let added = match &mut self.gathered {
            Gathered::Format(ranges, picture) => {
                let label = if hlo.contains('F') {
                    Label::Format(Box::new(format_named(&row.label())?))
                } else if *picture {
                    row.picture()?
                } else {
                    Label::Text(row.label().into())
                };
                let added = add(ranges, reach, label);
                budget.take(ranges.last_bytes(Label::bytes))?;
                added
            }
            Gathered::Informat(ranges, text) => {
                let added = add(ranges, reach, row.reads(*text, hlo)?);
                budget.take(ranges.last_bytes(|_| row.label().len()))?;
                added
            }
        };
        added.map_err(|wrong| Failure::world(format!("{wrong}: format {}.", self.name)))
    }

    fn finish(self, world: &mut World) -> Outcome<()> {
        let name = &self.name;
        let wrong = |wrong: String| Failure::world(format!("{wrong}: format {name}."));
        let made = match self.gathered {
            Gathered::Format(ranges, picture) => {
                let format = self.options.format(ranges, picture, &world.formats);
                Made::Format(format.map_err(wrong)?)
            }
            Gathered::Informat(ranges, text) => {
                let informat = self.options.informat(ranges, text);
                Made::Informat(informat.map_err(wrong)?)
            }
        };
        keep(world, self.name, made);
        Ok(())
    }
}

/// CNTLIN=: rows of one name and type that follow each other make a format.
pub(super) fn read(world: &mut World, from: &DatasetRef, budget: &mut Budget) -> Outcome<()> {
    let mut input = Input::open(world, from)?;
    let fields = input.fields().to_vec();
    let encoding = input.metadata().encoding;
    for name in ["FMTNAME", "START", "LABEL"] {
        let named = |field: &Field| field.variable.name.eq_ignore_ascii_case(name);
        if !fields.iter().any(named) {
            return Err(absent(name));
        }
    }
    let mut group: Option<Group> = None;
    while let Some(bytes) = input.next_row()? {
        let row = Row {
            fields: &fields,
            bytes,
            encoding,
        };
        let (name, kind) = named(&row)?;
        let hlo = row.text("HLO").unwrap_or_default().to_ascii_uppercase();
        if let Some(unknown) = hlo.chars().find(|c| !"FHIJLNORSU ".contains(*c)) {
            let message = format!("HLO {unknown} of CNTLIN= is not implemented yet.");
            return Err(Failure::world(message));
        }
        let same = group
            .as_ref()
            .is_some_and(|group| group.name == name && group.kind == kind);
        if !same {
            if let Some(done) = group.take() {
                done.finish(world)?;
            }
            group = Some(Group::new(&row, name, kind, &hlo)?);
        }
        if let Some(group) = group.as_mut().filter(|_| !hlo.contains('N')) {
            group.add(&row, &hlo, budget)?;
        }
    }
    if let Some(group) = group {
        group.finish(world)?;
    }
    input.finish(world)?;
    Ok(())
}

/// FMTNAME and TYPE: texts have names that begin with `$`, or say so in TYPE.
fn named(row: &Row<'_>) -> Outcome<(String, char)> {
    let name = row.text("FMTNAME").unwrap_or_default().to_ascii_uppercase();
    let (informat, name) = match name.strip_prefix('@') {
        Some(name) => (true, name.to_owned()),
        None => (false, name),
    };
    let bare = name.trim_start_matches('$').to_owned();
    let valid = !bare.is_empty()
        && bare.len() <= 32
        && !bare.starts_with(|c: char| c.is_ascii_digit())
        && !bare.ends_with(|c: char| c.is_ascii_digit())
        && bare.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !valid {
        let message = format!("The format name {name} is not a valid SAS name.");
        return Err(Failure::world(message));
    }
    let written = row.character("TYPE").map(|kind| kind.to_ascii_uppercase());
    let kind = match (written, name.starts_with('$'), informat) {
        (Some('N') | None, true, false) => 'C',
        (None, false, false) => 'N',
        (None | Some('I'), true, _) => 'J',
        (None, false, true) => 'I',
        (Some(kind), ..) => kind,
    };
    let sign = if matches!(kind, 'C' | 'J') { "$" } else { "" };
    Ok((format!("{sign}{bare}"), kind))
}

/// SELECT and EXCLUDE: which formats go to CNTLOUT=.
#[derive(Default)]
pub(super) struct Choice {
    exclude: bool,
    /// Names with `@` for informats; those that end in `:` stand for all that begin so.
    names: Vec<String>,
}

impl Choice {
    /// The names of a statement.
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>, exclude: bool) -> Parsed<()> {
        self.exclude = exclude;
        while !cursor.is_at_end() {
            let mut name = String::new();
            for sign in ["@", "$"] {
                if cursor.eat_symbol(sign) {
                    name.push_str(sign);
                }
            }
            if name.is_empty() || !cursor.at_symbol(":") {
                name.push_str(&cursor.expect_name("the name of a format")?.0);
            }
            if cursor.eat_symbol(":") {
                name.push(':');
            }
            self.names.push(name.to_ascii_uppercase());
        }
        Ok(())
    }

    fn takes(&self, name: &str) -> bool {
        let named = self.names.iter().any(|one| match one.strip_suffix(':') {
            Some(prefix) => name.starts_with(prefix),
            None => one == name,
        });
        self.names.is_empty() || named != self.exclude
    }
}

/// What all rows of a format share.
struct Whole<'a> {
    name: &'a str,
    kind: char,
    width: u16,
    limits: (u16, u16),
    fuzz: f64,
    length: usize,
    /// Letters of HLO.
    letters: String,
}

/// A row of CNTLOUT=.
struct Written {
    start: String,
    end: String,
    label: String,
    exclusions: (bool, bool),
    hlo: String,
    picture: Option<Picture>,
}

/// CNTLOUT=
pub(super) fn write(world: &mut World, out: &DatasetRef, choice: &Choice) -> Outcome<()> {
    let formats = world.formats.clone();
    let (mut ends, mut labels) = (NUMBER_WIDTH, 1);
    each(&formats, choice, &mut |_, row| {
        ends = ends.max(row.start.len()).max(row.end.len());
        labels = labels.max(row.label.len());
        Ok(())
    })?;
    let encoding = Encoding::UTF_8;
    let variables = variables(ends, labels);
    let mut table = Table::create(world, out, variables, "FORMAT", encoding)?;
    let written = each(&formats, choice, &mut |whole, row| {
        put(&mut table, whole, &row)
    });
    match written {
        Ok(()) => table.finish(world).map(drop),
        Err(failure) => {
            table.discard(world);
            Err(failure)
        }
    }
}

/// The variables of CNTLOUT= in order, with the labels that SAS gives them.
fn variables(ends: usize, labels: usize) -> Vec<Variable> {
    let length = |length: usize| u32::try_from(length).unwrap_or(32_767).clamp(1, 32_767);
    let text = |name: &str, size: usize, label: &str| Variable {
        label: label.to_owned(),
        ..Variable::character(name, length(size))
    };
    let number = |name: &str, size: u32, label: &str| Variable {
        label: label.to_owned(),
        length: size,
        ..Variable::numeric(name)
    };
    vec![
        text("FMTNAME", 32, "Format name"),
        text("START", ends, "Starting value for format"),
        text("END", ends, "Ending value for format"),
        text("LABEL", labels, "Format value label"),
        number("MIN", 3, "Minimum length"),
        number("MAX", 3, "Maximum length"),
        number("DEFAULT", 3, "Default length"),
        number("LENGTH", 3, "Format length"),
        number("FUZZ", 8, "Fuzz value"),
        text("PREFIX", 2, "Prefix characters"),
        number("MULT", 8, "Multiplier"),
        text("FILL", 1, "Fill character"),
        number("NOEDIT", 3, "Is picture string noedit?"),
        text("TYPE", 1, "Type of format"),
        text("SEXCL", 1, "Start exclusion"),
        text("EEXCL", 1, "End exclusion"),
        text("HLO", 13, "Additional information"),
        text("DECSEP", 1, "Decimal separator"),
        text("DIG3SEP", 1, "Three-digit separator"),
        text("DATATYPE", 8, "Date/time/datetime?"),
        text("LANGUAGE", 8, "Language for date strings"),
    ]
}

fn put(table: &mut Table, whole: &Whole<'_>, row: &Written) -> Outcome<()> {
    let flag = |yes: bool| if yes { b"Y" } else { b"N" };
    let mut one = [0; 4];
    let mut character = |c: Option<char>| {
        let text = c.map_or("", |c| c.encode_utf8(&mut one));
        text.as_bytes().to_vec()
    };
    let picture = row.picture.as_ref();
    let digits = picture.filter(|one| one.datatype.is_none());
    table.text(0, whole.name.trim_start_matches('$').as_bytes());
    table.text(1, row.start.as_bytes());
    table.text(2, row.end.as_bytes());
    table.text(3, row.label.as_bytes());
    for (index, value) in [whole.limits.0, whole.limits.1, whole.width]
        .into_iter()
        .enumerate()
    {
        table.number(4 + index, f64::from(value));
    }
    table.number(7, whole.length as f64);
    table.number(8, whole.fuzz);
    table.text(9, picture.map_or(b"", |one| one.prefix.as_bytes()));
    table.number(10, digits.map_or(0.0, Picture::factor));
    table.text(11, &character(picture.map(|one| one.fill)));
    table.number(
        12,
        f64::from(u8::from(picture.is_some_and(|one| one.noedit))),
    );
    table.text(13, &character(Some(whole.kind)));
    table.text(14, flag(row.exclusions.0));
    table.text(15, flag(row.exclusions.1));
    table.text(16, format!("{}{}", row.hlo, whole.letters).as_bytes());
    table.text(17, &character(picture.and_then(|one| one.decimal)));
    table.text(18, &character(picture.and_then(|one| one.thousands)));
    let datatype = picture.and_then(|one| one.datatype);
    table.text(19, datatype.map_or("", |one| one.name()).as_bytes());
    table.text(20, b"");
    table.write()
}

type Take<'a> = dyn FnMut(&Whole<'_>, Written) -> Outcome<()> + 'a;

/// All rows of the chosen formats and informats.
fn each(formats: &Formats, choice: &Choice, take: &mut Take<'_>) -> Outcome<()> {
    for (name, format) in formats.formats().filter(|(name, _)| choice.takes(name)) {
        let whole = whole_format(name, format, formats);
        for (ends, label) in format.ranges.all() {
            take(&whole, of_label(row_of(Some(ends)), label))?;
        }
        if let Some(other) = &format.ranges.other {
            take(&whole, of_label(row_of(None), other))?;
        }
    }
    for (name, informat) in formats.informats() {
        if !choice.takes(&format!("@{name}")) {
            continue;
        }
        let letter = |yes: bool, letter: &str| {
            if yes {
                letter.to_owned()
            } else {
                String::new()
            }
        };
        let whole = Whole {
            name,
            kind: if informat.text { 'J' } else { 'I' },
            width: informat.width,
            limits: informat.limits,
            fuzz: informat.ranges.fuzz,
            length: usize::from(informat.width),
            letters: letter(informat.upcase, "U") + &letter(informat.just, "J"),
        };
        for (ends, reads) in informat.ranges.all() {
            let mut row = of_reads(row_of(Some(ends)), reads);
            if matches!(ends, Shown::Numbers(_)) {
                row.hlo.push('I');
            }
            take(&whole, row)?;
        }
        if let Some(other) = &informat.ranges.other {
            take(&whole, of_reads(row_of(None), other))?;
        }
    }
    Ok(())
}

fn whole_format<'a>(name: &'a str, format: &UserFormat, formats: &Formats) -> Whole<'a> {
    let longest = format.ranges.labels().map(|one| label_width(one, formats));
    Whole {
        name,
        kind: match (format.picture, name.starts_with('$')) {
            (true, _) => 'P',
            (_, true) => 'C',
            _ => 'N',
        },
        width: format.width,
        limits: format.limits,
        fuzz: format.ranges.fuzz,
        length: longest.max().unwrap_or(0),
        letters: if format.round { "R" } else { "" }.to_owned(),
    }
}

/// The ends of a range; OTHER without one.
fn row_of(ends: Option<Shown<'_>>) -> Written {
    let (mut start, mut end, mut hlo) = (
        "**OTHER**".to_owned(),
        "**OTHER**".to_owned(),
        String::new(),
    );
    let mut exclusions = (false, false);
    match ends {
        None => hlo.push('O'),
        Some(Shown::Numbers(ends)) => {
            (start, end) = (number(ends.low, "LOW"), number(ends.high, "HIGH"));
            (exclusions, hlo) = letters(ends);
        }
        Some(Shown::Texts(ends)) => {
            let text = |value: &Option<Box<[u8]>>, none: &str| match value {
                Some(value) => String::from_utf8_lossy(value).into_owned(),
                None => none.to_owned(),
            };
            (start, end) = (text(&ends.low, "LOW"), text(&ends.high, "HIGH"));
            (exclusions, hlo) = letters(ends);
        }
    }
    Written {
        start,
        end,
        label: String::new(),
        exclusions,
        hlo,
        picture: None,
    }
}

fn letters<T>(ends: &Ends<T>) -> ((bool, bool), String) {
    let low = if ends.low.is_none() { "L" } else { "" };
    let high = if ends.high.is_none() { "H" } else { "" };
    ((ends.above, ends.below), format!("{low}{high}"))
}

fn number(value: Option<f64>, none: &str) -> String {
    let text = value.map_or_else(|| none.to_owned(), |value| best(value, NUMBER_WIDTH));
    format!("{text:>NUMBER_WIDTH$}")
}

fn of_label(mut row: Written, label: &Label) -> Written {
    match label {
        Label::Text(text) => row.label = text.to_string(),
        Label::Format(format) => {
            row.label = shown(format, Kind::Numeric);
            row.hlo.push('F');
        }
        Label::Picture(picture) => {
            row.label = picture.template.to_string();
            row.picture = Some(picture.as_ref().clone());
        }
    }
    row
}

fn of_reads(mut row: Written, reads: &Reads) -> Written {
    row.label = match reads {
        Reads::Number(value) => best(*value, NUMBER_WIDTH).trim().to_owned(),
        Reads::Text(text) => text.to_string(),
        Reads::Same => "_SAME_".to_owned(),
        Reads::Error => "_ERROR_".to_owned(),
        Reads::Informat(format) => {
            row.hlo.push('F');
            shown(format, Kind::Numeric)
        }
    };
    row
}
