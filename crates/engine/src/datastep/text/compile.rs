//! Compiling INFILE, INPUT, FILE and PUT.

use std::path::PathBuf;

use base::diag::Span;
use lang::ast::{
    Expr, ExprKind, FileName, FileOption, FileValue, Form, FormatModifier, FormatRef, GroupStyle,
    Pointer, Style, TextFile, TextItem, ValueItem, VariableKind, VariableList,
};
use sas7bdat::{Format, Kind};

use super::infile::{Infile, InfileOptions, Over};
use super::output::{FileOptions, OutFile};
use super::program::{
    Hold, Move, ReadForm, ReadItem, ReadList, ReadValue, ValuePlace, WriteForm, WriteItem,
    WriteList, WriteValue,
};
use crate::datastep::compile::Builder;
use crate::datastep::declare::format_of;
use crate::datastep::program::Operation;
use crate::expr::Slot;
use crate::expr::array::ElementRef;
use crate::failure::{Failure, Outcome};
use crate::format;
use crate::format::informat::Informat;
use crate::format::user::Formats;

/// LRECL= unless given, as in SAS 9.4.
const LRECL: usize = 32_767;

/// Highest LRECL=.
const LRECL_MAX: u64 = 1 << 20;

/// Lines that `#` moves among.
const LINES_MAX: usize = 1000;

/// Items that the lists of one statement may have, once groups are taken apart.
const ITEMS_MAX: usize = 1 << 20;

/// A variable or element of INPUT or PUT.
struct Target {
    place: ValuePlace,
    name: String,
    kind: Kind,
    length: u32,
    informat: Format,
}

impl Builder<'_> {
    /// INFILE.
    pub(in crate::datastep) fn infile(&mut self, file: &TextFile) -> Outcome<Operation> {
        let mut options = self.infile_options(&[])?;
        let lines = match &file.name {
            FileName::Reference(name) => ["DATALINES", "CARDS", "DATALINES4", "CARDS4"]
                .iter()
                .any(|one| one.eq_ignore_ascii_case(name)),
            FileName::Path(_) => false,
        };
        if lines {
            for option in &file.options {
                self.infile_option(&mut options, option)?;
            }
            let index = self.program_lines(options, &file.span)?;
            return Ok(Operation::Infile(index));
        }
        let (label, path, defaults) = self.text_path(file)?;
        for option in defaults.iter().chain(&file.options) {
            self.infile_option(&mut options, option)?;
        }
        if let Some(index) = self.infiles.iter().position(|one| one.path == path) {
            return Ok(Operation::Infile(index));
        }
        let infile = Infile::open(self.world, label, &path, options)?;
        self.pdv.reads_text = true;
        self.infiles.push(infile);
        Ok(Operation::Infile(self.infiles.len() - 1))
    }

    fn program_lines(&mut self, options: InfileOptions, span: &Span) -> Outcome<usize> {
        let Some(lines) = self.data_lines else {
            return Err(Failure::at(span, "No DATALINES or INFILE statement."));
        };
        self.pdv.reads_text = true;
        self.infiles.push(Infile::of_program(lines, options));
        Ok(self.infiles.len() - 1)
    }

    /// The path of a file with its name for the log and the options of its FILENAME statement.
    fn text_path(&self, file: &TextFile) -> Outcome<(String, PathBuf, Vec<FileOption>)> {
        match &file.name {
            FileName::Path(path) => Ok((format!("'{path}'"), PathBuf::from(path), Vec::new())),
            FileName::Reference(name) => {
                let upper = name.to_ascii_uppercase();
                let Some((path, options)) = self.world.filerefs.get(&upper) else {
                    let message = format!("No logical assign for filename {upper}.");
                    return Err(Failure::at(&file.span, message));
                };
                Ok((upper, path.clone(), options.clone()))
            }
        }
    }

    fn infile_options(&mut self, options: &[FileOption]) -> Outcome<InfileOptions> {
        let mut read = InfileOptions {
            delimiters: None,
            delimiter_variable: None,
            whole_delimiter: false,
            group: 1,
            dsd: false,
            firstobs: 1,
            obs: u64::MAX,
            over: Over::Flow,
            lrecl: LRECL,
            end: None,
            expand_tabs: false,
        };
        for option in options {
            self.infile_option(&mut read, option)?;
        }
        Ok(read)
    }

    fn infile_option(&mut self, read: &mut InfileOptions, option: &FileOption) -> Outcome<()> {
        match (option.name.to_ascii_uppercase().as_str(), &option.value) {
            ("DLM" | "DELIMITER", Some(FileValue::Text(text))) => {
                read.delimiters = Some(text.as_bytes().to_vec());
                (read.whole_delimiter, read.delimiter_variable) = (false, None);
            }
            ("DLMSTR", Some(FileValue::Text(text))) if !text.is_empty() => {
                read.delimiters = Some(text.as_bytes().to_vec());
                (read.whole_delimiter, read.delimiter_variable) = (true, None);
            }
            ("DLM" | "DELIMITER" | "DLMSTR", Some(FileValue::Word(name))) => {
                read.whole_delimiter = option.name.eq_ignore_ascii_case("DLMSTR");
                read.delimiter_variable = Some(self.delimiter(name, option)?);
            }
            ("DSD", None) => read.dsd = true,
            ("EXPANDTABS", None) => read.expand_tabs = true,
            ("NOEXPANDTABS", None) => read.expand_tabs = false,
            ("FIRSTOBS", Some(value)) => read.firstobs = count(value, option)?.max(1),
            ("OBS", Some(value)) => read.obs = count(value, option)?,
            ("TRUNCOVER", None) => read.over = Over::Truncate,
            ("MISSOVER", None) => read.over = Over::Miss,
            ("FLOWOVER", None) => read.over = Over::Flow,
            ("STOPOVER", None) => read.over = Over::Stop,
            ("LRECL", Some(value)) => read.lrecl = lrecl(value, option)?,
            ("N", Some(value)) => {
                let lines = count(value, option)?;
                read.group = usize::try_from(lines).unwrap_or(usize::MAX);
                if !(1..=LINES_MAX).contains(&read.group) {
                    let message = format!("N= takes a number from 1 to {LINES_MAX}.");
                    return Err(Failure::at(&option.span, message));
                }
            }
            ("END", Some(FileValue::Word(name))) => {
                read.end = Some(self.pdv.automatic(name, &option.span)?);
            }
            // A record ends at its line end, whatever is said of blanks behind it.
            ("PAD" | "NOPAD", None) if read.over == Over::Truncate => {}
            _ => return Err(unknown_option(option, "INFILE")),
        }
        Ok(())
    }

    /// The variable of DLM=, which must be there with its length.
    fn delimiter(&self, name: &str, option: &FileOption) -> Outcome<Slot> {
        let found = self
            .pdv
            .find(name)
            .map(|index| self.pdv.variables[index].slot);
        found
            .filter(|slot| slot.kind == Kind::Character)
            .ok_or_else(|| {
                let message = format!(
                    "{}= names {name}, which is no character variable that was made before.",
                    option.name.to_ascii_uppercase()
                );
                Failure::at(&option.span, message)
            })
    }

    /// FILE.
    pub(in crate::datastep) fn file(&mut self, file: &TextFile) -> Outcome<Operation> {
        if let FileName::Reference(name) = &file.name {
            if name.eq_ignore_ascii_case("log") {
                if let Some(option) = file.options.first() {
                    return Err(unknown_option(option, "FILE LOG"));
                }
                return Ok(Operation::File(None));
            }
            if name.eq_ignore_ascii_case("print") {
                let message = "FILE PRINT is not implemented yet.";
                return Err(Failure::at(&file.span, message));
            }
        }
        let (label, path, defaults) = self.text_path(file)?;
        let mut options = FileOptions {
            delimiter: None,
            dsd: false,
            lrecl: LRECL,
            append: false,
        };
        for option in defaults.iter().chain(&file.options) {
            match (option.name.to_ascii_uppercase().as_str(), &option.value) {
                ("DLM" | "DELIMITER" | "DLMSTR", Some(FileValue::Text(text))) => {
                    options.delimiter = Some(text.as_bytes().to_vec());
                }
                ("DSD", None) => options.dsd = true,
                ("LRECL", Some(value)) => options.lrecl = lrecl(value, option)?,
                ("MOD", None) => options.append = true,
                ("OLD", None) => options.append = false,
                _ => return Err(unknown_option(option, "FILE")),
            }
        }
        if let Some(index) = self.files.iter().position(|one| one.path == path) {
            return Ok(Operation::File(Some(index)));
        }
        self.files.push(OutFile::new(label, &path, options));
        Ok(Operation::File(Some(self.files.len() - 1)))
    }

    /// INPUT.
    pub(in crate::datastep) fn input(
        &mut self,
        items: &[TextItem],
        span: &Span,
        out: &mut Vec<Operation>,
    ) -> Outcome<()> {
        if self.infiles.is_empty() {
            let options = self.infile_options(&[])?;
            self.program_lines(options, span)?;
        }
        let mut list = ReadList {
            items: Vec::new(),
            hold: Hold::No,
        };
        let mut named = Vec::new();
        for item in items {
            let hold = matches!(item, TextItem::Move(Pointer::Hold | Pointer::HoldAcross));
            if !named.is_empty() && !hold && !is_named(item) {
                let message = "After named input (x=) another style of input is not valid.";
                return Err(Failure::at(span, message));
            }
            match item {
                TextItem::Move(Pointer::Hold) => list.hold = Hold::Iteration,
                TextItem::Move(Pointer::HoldAcross) => list.hold = Hold::Across,
                TextItem::Move(Pointer::Line(line)) => {
                    let line = self.read_line(line)?;
                    list.items.push(ReadItem::Move(Move::Line(line)));
                }
                TextItem::Move(pointer) => {
                    let to = self.pointer(pointer, out)?;
                    list.items.push(ReadItem::Move(to));
                }
                TextItem::Value(value, style) if style.named => {
                    for target in self.targets_of(value, Some(style))? {
                        named.push(named_value(target, style, span, &self.world.formats)?);
                    }
                }
                TextItem::Value(value, style) => {
                    for target in self.targets_of(value, Some(style))? {
                        list.items
                            .push(read_item(target, style, span, &self.world.formats)?);
                    }
                }
                TextItem::Group(values, styles) => {
                    self.read_group(values, styles, span, &mut list, out)?;
                }
                TextItem::Text(..) | TextItem::All(_) | TextItem::Infile(_) => {
                    return Err(Failure::at(span, "This item is not valid in INPUT."));
                }
            }
        }
        if !named.is_empty() {
            self.others_by_name(&mut named, span)?;
            list.items.push(ReadItem::Named(named));
        }
        out.push(Operation::Input(Box::new(list)));
        Ok(())
    }

    /// LIST.
    pub(in crate::datastep) fn list(&self, span: &Span) -> Outcome<Operation> {
        if self.infiles.is_empty() {
            let message = "LIST needs an INFILE and INPUT statement before it.";
            return Err(Failure::at(span, message));
        }
        Ok(Operation::List)
    }

    /// Named input reads all variables that earlier statements made, too.
    fn others_by_name(&mut self, named: &mut Vec<ReadValue>, span: &Span) -> Outcome<()> {
        for index in 0..self.pdv.variables.len() {
            let variable = &mut self.pdv.variables[index];
            let name = &variable.variable.name;
            let there = named.iter().any(|one| one.name.eq_ignore_ascii_case(name));
            if variable.automatic || there {
                continue;
            }
            let style = Style {
                dollar: false,
                named: true,
                form: Form::List {
                    format: None,
                    ampersand: false,
                    tilde: false,
                },
                quiet: 0,
            };
            let (name, slot) = (name.clone(), variable.slot);
            let target = self.target_at(slot, &name);
            named.push(named_value(target, &style, span, &self.world.formats)?);
        }
        Ok(())
    }

    /// `#n` of INPUT: so many lines make the group that is read at once.
    fn read_line(&mut self, line: &Expr) -> Outcome<usize> {
        let ExprKind::Number(number) = line.kind else {
            let message = "The line pointer # with a variable is not implemented yet.";
            return Err(Failure::at(&line.span, message));
        };
        if number.fract() != 0.0 || !(1.0..=LINES_MAX as f64).contains(&number) {
            let message = format!("The line pointer # takes a number from 1 to {LINES_MAX}.");
            return Err(Failure::at(&line.span, message));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range is checked before"
        )]
        let number = number as usize;
        if let Some(infile) = self.infiles.last_mut() {
            infile.options.group = infile.options.group.max(number);
        }
        Ok(number)
    }

    fn read_group(
        &mut self,
        values: &[ValueItem],
        styles: &[GroupStyle],
        span: &Span,
        list: &mut ReadList,
        out: &mut Vec<Operation>,
    ) -> Outcome<()> {
        let first = first_style(styles);
        let mut targets = Vec::new();
        for value in values {
            targets.extend(self.targets_of(value, first)?);
        }
        for step in in_turn(targets, styles, span)? {
            match step {
                Turn::Value(target, style) => {
                    list.items
                        .push(read_item(target, style, span, &self.world.formats)?);
                }
                Turn::Move(pointer) => {
                    let to = self.pointer(pointer, out)?;
                    list.items.push(ReadItem::Move(to));
                }
                Turn::Text(_) => {}
            }
        }
        Ok(())
    }

    /// PUT and PUTLOG.
    pub(in crate::datastep) fn put(
        &mut self,
        items: &[TextItem],
        log: bool,
        span: &Span,
        out: &mut Vec<Operation>,
    ) -> Outcome<()> {
        let mut list = WriteList {
            items: Vec::new(),
            hold: Hold::No,
        };
        for item in items {
            match item {
                TextItem::Move(Pointer::Hold) => list.hold = Hold::Iteration,
                TextItem::Move(Pointer::HoldAcross) => list.hold = Hold::Across,
                TextItem::Move(pointer) => {
                    let to = self.pointer(pointer, out)?;
                    list.items.push(WriteItem::Move(to));
                }
                TextItem::Text(text, times) => {
                    if text.len() as u64 * u64::from(*times) > LRECL_MAX {
                        let message = format!("A text of PUT has at most {LRECL_MAX} bytes.");
                        return Err(Failure::at(span, message));
                    }
                    let text = text.repeat(*times as usize).into_bytes();
                    list.items.push(WriteItem::Text(text));
                }
                TextItem::All(_) => list.items.push(WriteItem::All),
                TextItem::Infile(span) => {
                    if self.infiles.is_empty() {
                        let message = "_INFILE_ needs an INFILE and INPUT statement before it.";
                        return Err(Failure::at(span, message));
                    }
                    list.items.push(WriteItem::Infile(span.clone()));
                }
                TextItem::Value(value, style) => {
                    for target in self.targets_of(value, None)? {
                        list.items
                            .push(write_item(target, style, &self.world.formats)?);
                    }
                }
                TextItem::Group(values, styles) => {
                    self.write_group(values, styles, span, &mut list, out)?;
                }
            }
        }
        out.push(Operation::Put(Box::new(list), log));
        Ok(())
    }

    fn write_group(
        &mut self,
        values: &[ValueItem],
        styles: &[GroupStyle],
        span: &Span,
        list: &mut WriteList,
        out: &mut Vec<Operation>,
    ) -> Outcome<()> {
        let mut targets = Vec::new();
        for value in values {
            targets.extend(self.targets_of(value, None)?);
        }
        for step in in_turn(targets, styles, span)? {
            list.items.push(match step {
                Turn::Value(target, style) => write_item(target, style, &self.world.formats)?,
                Turn::Move(pointer) => WriteItem::Move(self.pointer(pointer, out)?),
                Turn::Text(text) => WriteItem::Text(text.as_bytes().to_vec()),
            });
        }
        Ok(())
    }

    fn pointer(&mut self, pointer: &Pointer, out: &mut Vec<Operation>) -> Outcome<Move> {
        Ok(match pointer {
            Pointer::Column(value) => Move::Column(self.number(value, out)?),
            Pointer::Relative(value) => Move::Relative(self.number(value, out)?),
            Pointer::Find(value) => {
                let compiled = self.value(value, out)?;
                Move::Find(self.compiler().to_text(compiled, &value.span))
            }
            Pointer::NextLine => Move::NextLine,
            Pointer::Line(value) => {
                let message = "The line pointer # is not implemented yet.";
                return Err(Failure::at(&value.span, message));
            }
            Pointer::Hold | Pointer::HoldAcross => {
                let message = "A trailing @ stands at the end of the statement.";
                return Err(Failure::world(message));
            }
        })
    }

    /// The variables that an item names. INPUT (`read`) makes those that are not there.
    fn targets_of(&mut self, value: &ValueItem, read: Option<&Style>) -> Outcome<Vec<Target>> {
        if let ValueItem::Element {
            array,
            subscripts,
            span,
        } = value
        {
            let element = self.compiler().element(array, subscripts, span)?;
            if read.is_some() {
                self.pdv.assigned_array(array);
            }
            return Ok(vec![Self::target_of(element)]);
        }
        let ValueItem::Variables(list) = value else {
            return Ok(Vec::new());
        };
        if let VariableList::Array(name, _) = list {
            use crate::expr::compile::Scope;
            if read.is_some() {
                self.pdv.assigned_array(name);
            }
            let slots = self.pdv.list(list)?;
            return Ok(slots
                .into_iter()
                .map(|slot| self.target_at(slot, name))
                .collect());
        }
        if let (VariableList::Name(name, span), None) = (list, read)
            && name.contains('.')
        {
            // FIRST.x and LAST.x are wanted of a BY statement, which may come later.
            crate::expr::compile::Scope::variable(&mut self.pdv, name, span)?;
        }
        let indexes = match read {
            Some(style) => {
                let kind = if style.dollar {
                    VariableKind::Character
                } else {
                    VariableKind::Numeric
                };
                self.variables_of(list, kind, first_length(&style.form))?
            }
            None => self.variables_of(list, VariableKind::Numeric, 8)?,
        };
        let span = list_span(list);
        Ok(indexes
            .into_iter()
            .map(|index| {
                let variable = &mut self.pdv.variables[index];
                if read.is_some() {
                    variable.assigned = true;
                } else {
                    variable.mentioned.get_or_insert_with(|| span.clone());
                }
                let one = &variable.variable;
                Target {
                    place: ValuePlace::Variable(variable.slot),
                    name: one.name.clone(),
                    kind: variable.slot.kind,
                    length: variable.slot.length,
                    informat: one.informat.clone(),
                }
            })
            .collect())
    }

    fn target_of(element: ElementRef) -> Target {
        Target {
            kind: element.array().kind,
            length: element.array().length(),
            name: element.array().name.clone(),
            place: ValuePlace::Element(Box::new(element)),
            informat: Format::default(),
        }
    }

    fn target_at(&self, slot: Slot, array: &str) -> Target {
        let variable = self.pdv.variables.iter().find(|one| one.slot == slot);
        Target {
            place: ValuePlace::Variable(slot),
            name: variable.map_or_else(|| array.to_owned(), |one| one.variable.name.clone()),
            kind: slot.kind,
            length: slot.length,
            informat: variable.map_or_else(Format::default, |one| one.variable.informat.clone()),
        }
    }
}

fn list_span(list: &VariableList) -> &Span {
    match list {
        VariableList::Name(_, span)
        | VariableList::Numbered { span, .. }
        | VariableList::Range { span, .. }
        | VariableList::Prefix(_, span)
        | VariableList::All(_, span)
        | VariableList::Array(_, span) => span,
    }
}

/// Length of a character variable that INPUT makes.
fn first_length(form: &Form) -> u32 {
    match form {
        Form::List { format: None, .. } => 8,
        Form::List {
            format: Some(format),
            ..
        }
        | Form::Formatted(format) => match format.width {
            0 => 8,
            width => u32::from(width),
        },
        Form::Columns { first, last, .. } => last - first + 1,
    }
}

fn first_style(styles: &[GroupStyle]) -> Option<&Style> {
    styles.iter().find_map(|style| match style {
        GroupStyle::Style(style, _) => Some(style),
        _ => None,
    })
}

/// What comes next in a group.
enum Turn<'a> {
    Value(Target, &'a Style),
    Move(&'a Pointer),
    Text(&'a str),
}

/// Values with the styles in turn, as often as there are values.
fn in_turn<'a>(
    targets: Vec<Target>,
    styles: &'a [GroupStyle],
    span: &Span,
) -> Outcome<Vec<Turn<'a>>> {
    let mut turns = Vec::new();
    let mut targets = targets.into_iter().peekable();
    while targets.peek().is_some() {
        for style in styles {
            match style {
                GroupStyle::Style(style, times) => {
                    for target in targets.by_ref().take(*times as usize) {
                        turns.push(Turn::Value(target, style));
                    }
                }
                GroupStyle::Move(pointer) => turns.push(Turn::Move(pointer)),
                GroupStyle::Text(text) => turns.push(Turn::Text(text)),
            }
            // What stands behind the style of the last value is not done.
            if targets.peek().is_none() {
                break;
            }
        }
        if turns.len() > ITEMS_MAX {
            return Err(Failure::at(span, "The list is too long."));
        }
    }
    Ok(turns)
}

fn is_named(item: &TextItem) -> bool {
    matches!(item, TextItem::Value(_, style) if style.named)
}

/// A value of named input.
fn named_value(
    target: Target,
    style: &Style,
    span: &Span,
    formats: &Formats,
) -> Outcome<ReadValue> {
    let plain = Style {
        named: false,
        ..style.clone()
    };
    let informed = !target.informat.name.is_empty() || target.informat.width > 0;
    let written = !matches!(style.form, Form::List { format: None, .. });
    let ReadItem::Value(mut value) = read_item(target, &plain, span, formats)? else {
        return Err(Failure::at(span, "This item is not valid in INPUT."));
    };
    value.form = ReadForm::Named {
        blanks: informed || written,
    };
    Ok(value)
}

fn read_item(target: Target, style: &Style, span: &Span, formats: &Formats) -> Outcome<ReadItem> {
    if style.named {
        let message = format!(
            "Named input ({}=) in a group is not implemented yet.",
            target.name
        );
        return Err(Failure::at(span, message));
    }
    let text = target.kind == Kind::Character;
    let standard = if text {
        Informat::Text
    } else {
        Informat::Number(0)
    };
    let of_variable = || {
        let informat = &target.informat;
        if informat.name.is_empty() && informat.width == 0 {
            return Ok(standard.clone());
        }
        let name = informat.name.to_ascii_uppercase();
        let found = Informat::find(&name, informat.decimals, formats);
        found
            .map(|(found, _)| found)
            .ok_or_else(|| unknown_format(&name, span, "informat"))
    };
    let (form, informat) = match &style.form {
        Form::List {
            format,
            ampersand,
            tilde,
        } => {
            let informat = match format {
                Some(format) => informat(format, text, formats)?.0,
                None => of_variable()?,
            };
            let (ampersand, tilde) = (*ampersand, *tilde);
            (ReadForm::List { ampersand, tilde }, informat)
        }
        Form::Formatted(format) => {
            let (informat, width) = informat(format, text, formats)?;
            let width = match (format.width, text) {
                (0, true) => target.length as usize,
                (0, false) => usize::from(width),
                (width, _) => usize::from(width),
            };
            (ReadForm::Width(width), informat)
        }
        Form::Columns {
            first,
            last,
            decimals,
        } => {
            let informat = match standard {
                Informat::Number(_) => Informat::Number(*decimals),
                other => other,
            };
            let (first, last) = (*first as usize, *last as usize);
            (ReadForm::Columns(first - 1, last - first + 1), informat)
        }
    };
    if informat.is_text() != text {
        let message = format!("The informat does not have the type of {}.", target.name);
        return Err(Failure::at(span, message));
    }
    Ok(ReadItem::Value(ReadValue {
        place: target.place,
        name: target.name,
        form,
        informat,
        quiet: style.quiet,
    }))
}

/// The informat of a style and its default width; a text takes `8.` as `$8.`.
fn informat(format: &FormatRef, text: bool, formats: &Formats) -> Outcome<(Informat, u16)> {
    let mut name = format.name.to_ascii_uppercase();
    if text && name.is_empty() {
        name.push('$');
    }
    Informat::find(&name, format.decimals, formats)
        .ok_or_else(|| unknown_format(&name, &format.span, "informat"))
}

fn unknown_format(name: &str, span: &Span, what: &str) -> Failure {
    let message = format!(
        "The {what} {name} was not found or could not be loaded, or is not implemented yet."
    );
    Failure::at(span, message)
}

fn write_item(target: Target, style: &Style, formats: &Formats) -> Outcome<WriteItem> {
    let text = target.kind == Kind::Character;
    let checked = |format: &FormatRef| {
        let mut found = format_of(format);
        found.name.make_ascii_uppercase();
        if text && !found.name.starts_with('$') {
            found.name.insert(0, '$');
        }
        let known = if text {
            format::is_text_format(&found.name, formats)
        } else {
            format::number_with(0.0, &found, formats).is_some()
        };
        if known {
            Ok(found)
        } else {
            Err(unknown_format(&found.name, &format.span, "format"))
        }
    };
    let form = match &style.form {
        Form::List { format: None, .. } => WriteForm::List(None),
        Form::List {
            format: Some(format),
            ..
        } => WriteForm::List(Some(checked(format)?)),
        Form::Formatted(format) => WriteForm::Formatted(checked(format)?),
        Form::Columns {
            first,
            last,
            decimals,
        } => {
            let (first, last) = (*first as usize, *last as usize);
            let width = last - first + 1;
            let format = Format {
                name: if text { "$" } else { "" }.to_owned(),
                width: u16::try_from(width).unwrap_or(u16::MAX),
                decimals: *decimals,
            };
            // Without decimals as many are shown as fit.
            let format = if text || *decimals > 0 {
                format
            } else {
                Format {
                    name: "BEST".to_owned(),
                    ..format
                }
            };
            WriteForm::Columns(first - 1, width, format)
        }
    };
    let align = match &style.form {
        Form::List {
            format: Some(format),
            ..
        }
        | Form::Formatted(format) => format.modifier,
        _ => FormatModifier::None,
    };
    let named = style.named.then_some(target.name);
    Ok(WriteItem::Value(WriteValue {
        place: target.place,
        named,
        form,
        align,
    }))
}

fn unknown_option(option: &FileOption, statement: &str) -> Failure {
    let name = option.name.to_ascii_uppercase();
    let message =
        format!("The option {name} of {statement} is not recognized or not implemented yet.");
    Failure::at(&option.span, message)
}

fn count(value: &FileValue, option: &FileOption) -> Outcome<u64> {
    let (FileValue::Text(text) | FileValue::Word(text)) = value;
    if text.eq_ignore_ascii_case("max") {
        return Ok(u64::MAX);
    }
    text.parse().map_err(|_| {
        let name = option.name.to_ascii_uppercase();
        let message = format!("{name}={text} is not valid; give a number or MAX.");
        Failure::at(&option.span, message)
    })
}

fn lrecl(value: &FileValue, option: &FileOption) -> Outcome<usize> {
    match count(value, option)? {
        bytes @ 1..=LRECL_MAX => Ok(usize::try_from(bytes).unwrap_or(LRECL)),
        _ => {
            let message = format!("LRECL= takes a number from 1 to {LRECL_MAX}.");
            Err(Failure::at(&option.span, message))
        }
    }
}
