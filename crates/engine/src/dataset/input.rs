//! Reading a data set: one sequential pass, a page per read, with KEEP=, DROP=, RENAME=, WHERE=,
//! FIRSTOBS= and OBS= applied.

mod pieces;

use std::sync::Arc;

use base::diag::Span;
use base::store::{Access, LockKind, Store};
use lang::ast::{DatasetRef, Expr, VariableList};
use sas7bdat::btree::{IndexEntry, KeyPart, Span as KeySpan};
use sas7bdat::{Endian, IndexInfo, Kind, Metadata, Reader, Rows, Variable};

use super::files::FileSource;
use super::hash::RowHasher;
use super::options::{DatasetOptions, Named, rename_all, select, select_all};
use super::selection::{self, Selection};
use crate::accounting::DatasetUse;
use crate::expr::block::{Active, ROWS_MAX};
use crate::expr::compile::{Compiler, Scope, Sites};
use crate::expr::evaluate::{Events, is_true};
use crate::expr::{Number, Slot, print};
use crate::failure::{Failure, Outcome};
use crate::index::choose;
use crate::index::route::{IndexFile, Route};
use crate::library::Member;
use crate::options::FileLocks;
use crate::session::World;

/// A variable that a step sees, and where it lies in the file's rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The variable under the name the step sees.
    pub variable: Variable,
    /// Its place in a row of the file.
    pub slot: Slot,
}

impl Named for Field {
    fn name(&self) -> &str {
        &self.variable.name
    }

    fn kind(&self) -> Kind {
        self.variable.kind
    }
}

/// What rows must meet.
struct Condition {
    holds: Number,
    /// From WHERE=, not from a WHERE statement.
    option: bool,
    /// As the log shows it, if it can be shown faithfully.
    text: Option<String>,
    expr: Expr,
}

/// A data set open for reading.
pub struct Input {
    member: Member,
    reader: Reader<FileSource>,
    fields: Vec<Field>,
    every_variable: bool,
    condition: Option<Condition>,
    /// The rows that meet it, without an index.
    selection: Selection,
    /// The row delivered last, where it was found by an index.
    found: Vec<u8>,
    events: Events,
    first: u64,
    last: u64,
    passed: u64,
    delivered: u64,
    hash: Option<RowHasher>,
    indexing: Indexing,
    /// Rows come in the order of an index.
    route: Option<Route>,
}

/// What using an index takes.
#[derive(Clone)]
struct Indexing {
    store: Arc<dyn Store>,
    /// IBUFNO=.
    buffers: u64,
    /// IDXWHERE=; `None` if what pays decides.
    forced: Option<bool>,
    /// The columns that BY orders rows by.
    order: Option<Vec<usize>>,
    /// What was chosen, for MSGLEVEL=I.
    chosen: Option<String>,
}

impl Input {
    /// Opens `dataset` with its options; `OBS` and `FIRSTOBS` of the session apply unless it has
    /// its own.
    pub fn open(world: &mut World, dataset: &DatasetRef) -> Outcome<Self> {
        let member = world.libraries.resolve(dataset)?;
        let options = DatasetOptions::read(dataset)?;
        let mut input = Self::open_member(world, member)?;
        input.choose(&options)?;
        input.first = options.firstobs.unwrap_or(world.options.firstobs);
        input.last = options.obs.unwrap_or(world.options.obs);
        input.indexing.forced = options.idxwhere;
        if let Some(condition) = options.condition {
            input.set_condition(condition, true)?;
        }
        Ok(input)
    }

    /// Opens a whole data set.
    pub fn open_member(world: &mut World, member: Member) -> Outcome<Self> {
        let member = member.located(world.store.as_ref())?;
        let name = member.full_name();
        let path = member.path();
        let channel = member.library.read_channel();
        let file = world
            .open_data(channel, &path, Access::Read)
            .map_err(|error| Failure::store(&name, &error))?;
        let locks = member.library.filelocks.unwrap_or(world.options.filelocks);
        if !member.library.work && locks != FileLocks::None {
            match file.lock(LockKind::Shared) {
                Err(error) if locks == FileLocks::Continue => {
                    world
                        .log
                        .warning(&format!("{name}.DATA is used without a lock: {error}."));
                }
                other => other.map_err(|error| Failure::store(&name, &error))?,
            }
        }
        let (file, toll) = world.tolled(file);
        let reader =
            Reader::open(FileSource(file)).map_err(|error| Failure::format(&name, &path, error))?;
        let metadata = reader.metadata();
        if let Some(toll) = toll {
            toll.reads(metadata);
        }
        let fields = fields(metadata);
        let hash = world
            .row_hashes
            .of_input(&member.library)
            .then(|| RowHasher::new(&metadata.variables, &metadata.layout));
        Ok(Self {
            member,
            reader,
            fields,
            every_variable: true,
            condition: None,
            selection: Selection::all(),
            found: Vec::new(),
            events: Events {
                surroundings: world.surroundings(false),
                ..Events::default()
            },
            first: 1,
            last: u64::MAX,
            passed: 0,
            delivered: 0,
            hash,
            indexing: Indexing {
                store: world.store.clone(),
                buffers: world.options.ibufno,
                forced: None,
                order: None,
                chosen: None,
            },
            route: None,
        })
    }

    fn choose(&mut self, options: &DatasetOptions<'_>) -> Outcome<()> {
        let name = self.member.full_name();
        let unknown = |variable: &str, span: &Span| {
            let message = format!("The variable {variable} is not in the data set {name}.");
            Failure::at(span, message)
        };
        if let Some(lists) = options.keep {
            let kept = self.marked(&select_all(&self.fields, lists, unknown)?);
            self.retain(|index| kept[index]);
        }
        if let Some(lists) = options.drop {
            let dropped = self.marked(&select_all(&self.fields, lists, unknown)?);
            self.retain(|index| !dropped[index]);
        }
        let absent = rename_all(&mut self.fields, options.rename, |field| {
            &mut field.variable.name
        })?;
        match absent.first() {
            None => Ok(()),
            Some(old) => Err(Failure::world(format!(
                "Variable {old} in RENAME= is not in the data set {name}."
            ))),
        }
    }

    fn marked(&self, chosen: &[usize]) -> Vec<bool> {
        let mut marked = vec![false; self.fields.len()];
        for index in chosen {
            marked[*index] = true;
        }
        marked
    }

    fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let before = self.fields.len();
        let mut index = 0;
        self.fields.retain(|_| {
            index += 1;
            keep(index - 1)
        });
        self.every_variable &= self.fields.len() == before;
    }

    /// The condition of a WHERE statement: it replaces that of an earlier one, but a WHERE= of the
    /// data set stays in force instead.
    pub fn filter(&mut self, condition: &Expr) -> Outcome<()> {
        if self.condition.as_ref().is_some_and(|one| one.option) {
            return Ok(());
        }
        self.set_condition(condition, false)
    }

    fn set_condition(&mut self, condition: &Expr, option: bool) -> Outcome<()> {
        let mut sites = Sites::default();
        let name = self.member.full_name();
        let mut scope = Fields {
            fields: &self.fields,
            dataset: &name,
        };
        let mut compiler = Compiler {
            scope: &mut scope,
            sites: &mut sites,
            encoding: Some(self.reader.metadata().encoding),
            formats: &self.events.surroundings.formats,
        };
        let holds = compiler.number(condition)?.lowered();
        let events = Events {
            surroundings: self.events.surroundings.clone(),
            ..Events::default()
        };
        self.selection = Selection::of(holds.clone(), events);
        self.condition = Some(Condition {
            holds,
            option,
            text: print::where_text(condition),
            expr: condition.clone(),
        });
        self.choose_index()
    }

    /// Takes rows in the order of the variables `names`, ascending, if there is an index for that.
    pub fn order_by(&mut self, names: &[&str]) -> Outcome<()> {
        let columns: Option<Vec<usize>> = names.iter().map(|name| self.column(name)).collect();
        self.indexing.order = columns.filter(|columns| !columns.is_empty());
        self.choose_index()
    }

    /// Takes an index if one pays for the condition, or has the order that BY wants. An index for the
    /// condition may not bring rows into another order than that.
    fn choose_index(&mut self) -> Outcome<()> {
        self.close_index()?;
        self.indexing.chosen = None;
        let metadata = self.reader.metadata();
        if metadata.indexes.is_empty() {
            return Ok(());
        }
        let Indexing {
            store,
            buffers,
            order,
            ..
        } = &self.indexing;
        let in_order = |info: &&IndexInfo| {
            order
                .as_ref()
                .is_none_or(|columns| info.columns.starts_with(columns))
        };
        let condition = self.condition.as_ref().map(|one| &one.expr);
        let condition = condition.filter(|_| self.indexing.forced != Some(false));
        if condition.is_none() && order.is_none() {
            return Ok(());
        }
        let file = IndexFile::open(store, *buffers, &self.member, metadata)?;
        let known = metadata.indexes.iter().filter(in_order);
        let known = known.filter_map(|info| Some((info, file.entry(info)?)));
        let mut best: Option<(&IndexInfo, &IndexEntry, Vec<KeySpan>)> = None;
        for (info, entry) in known.clone() {
            let name = |column: usize| self.name_of(column);
            let spans = condition
                .and_then(|condition| choose::spans(condition, entry, metadata.encoding, name));
            let Some(spans) = spans else { continue };
            let pays = self.indexing.forced == Some(true)
                || choose::pays(entry, &spans, metadata.rows, metadata.pages);
            let better = best.as_ref().is_none_or(|(_, known, other)| {
                choose::share_of(entry, &spans) < choose::share_of(known, other)
            });
            if pays && better {
                best = Some((info, entry, spans));
            }
        }
        let purpose = if best.is_some() {
            "WHERE clause optimization"
        } else {
            "BY clause processing"
        };
        let whole = || {
            vec![KeySpan {
                low: Vec::new(),
                high: Vec::new(),
            }]
        };
        let by_order = known.clone().next().filter(|_| order.is_some());
        let taken = best.or_else(|| by_order.map(|(info, entry)| (info, entry, whole())));
        let Some((info, entry, spans)) = taken else {
            return file.close();
        };
        self.indexing.chosen = Some(format!("Index {} selected for {purpose}.", info.name));
        let entry = entry.clone();
        self.route = Some(file.route(entry, spans));
        Ok(())
    }

    /// The step's name of a column.
    fn name_of(&self, column: usize) -> Option<String> {
        let offset = self.reader.metadata().layout.offsets.get(column).copied();
        let field = self
            .fields
            .iter()
            .find(|field| Some(field.slot.offset) == offset);
        field.map(|field| field.variable.name.clone())
    }

    /// Rows are looked up by the index `name`: its key parts and the step's names of them; `None` if
    /// there is no such index. Nothing is found before [`search`](Self::search).
    pub fn open_key(&mut self, name: &str) -> Outcome<Option<Vec<(KeyPart, String)>>> {
        let metadata = self.reader.metadata();
        let is_it = |info: &&IndexInfo| info.name.eq_ignore_ascii_case(name);
        let Some(info) = metadata.indexes.iter().find(is_it) else {
            return Ok(None);
        };
        let Indexing { store, buffers, .. } = &self.indexing;
        let file = IndexFile::open(store, *buffers, &self.member, metadata)?;
        let Some(entry) = file.entry(info).cloned() else {
            return Ok(None);
        };
        let parts = entry.parts.iter().zip(&info.columns);
        let named = parts.map(|(part, column)| (*part, self.name_of(*column).unwrap_or_default()));
        let named = named.collect();
        self.route = Some(file.route(entry, Vec::new()));
        Ok(Some(named))
    }

    /// Goes to the keys of `span` in the index that [`open_key`](Self::open_key) opened.
    pub fn search(&mut self, span: KeySpan) {
        if let Some(route) = &mut self.route {
            route.restart(span);
        }
    }

    /// The column of a variable under the name that the step sees.
    fn column(&self, name: &str) -> Option<usize> {
        let field = self
            .fields
            .iter()
            .find(|field| field.variable.name.eq_ignore_ascii_case(name))?;
        let offsets = &self.reader.metadata().layout.offsets;
        offsets
            .iter()
            .position(|offset| *offset == field.slot.offset)
    }

    /// The data set.
    pub const fn member(&self) -> &Member {
        &self.member
    }

    /// What the file says of itself.
    pub fn metadata(&self) -> &Metadata {
        self.reader.metadata()
    }

    /// The variables that the step sees, in data set order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// True if no variable was dropped.
    pub const fn has_every_variable(&self) -> bool {
        self.every_variable
    }

    /// True if rows are left out by WHERE, FIRSTOBS= or OBS=.
    pub const fn is_filtered(&self) -> bool {
        self.condition.is_some() || self.first > 1 || self.last < u64::MAX
    }

    /// The next row that meets the conditions, in the file's layout and byte order.
    #[inline]
    pub fn next_row(&mut self) -> Outcome<Option<&[u8]>> {
        if self.is_filtered() || self.route.is_some() {
            return self.next_filtered();
        }
        match self.reader.next_row() {
            Ok(Some(row)) => {
                self.delivered += 1;
                if let Some(hash) = &mut self.hash {
                    hash.add(row);
                }
                Ok(Some(row))
            }
            Ok(None) => Ok(None),
            Err(error) => Err(read_failure(&self.member, error)),
        }
    }

    /// The row that [`next_row`](Self::next_row) gave last.
    #[inline]
    pub fn last_row(&self) -> &[u8] {
        if self.route.is_some() {
            &self.found
        } else {
            self.reader.last_row()
        }
    }

    /// The number, from 1, of the row that [`next_row`](Self::next_row) gave last among the rows of the
    /// data set that are not deleted; 0 before the first one.
    pub fn last_number(&mut self) -> Outcome<u64> {
        match &self.route {
            Some(route) => route.number(&mut self.reader),
            None => Ok(self.reader.position()),
        }
    }

    /// Whether another row comes, if that can be told without taking it. The last row is gone then.
    pub fn has_more(&mut self) -> Outcome<Option<bool>> {
        if self.route.is_some() || self.first > 1 || self.last < u64::MAX {
            return Ok(None);
        }
        if self.condition.is_some() {
            let filled = self.selection.fill(&mut self.reader);
            return filled
                .map(Some)
                .map_err(|error| read_failure(&self.member, error));
        }
        Ok(Some(self.reader.position() < self.reader.metadata().rows))
    }

    /// Row `number`, from 1; `None` if there is no such row. Conditions do not apply.
    pub fn row_at(&mut self, number: u64) -> Outcome<Option<&[u8]>> {
        if number == 0 || number > self.reader.metadata().rows {
            return Ok(None);
        }
        if let Err(error) = self.reader.seek_row(number - 1) {
            return Err(read_failure(&self.member, error));
        }
        match self.reader.next_row() {
            Ok(row) => {
                self.delivered += 1;
                if let (Some(hash), Some(row)) = (&mut self.hash, row) {
                    hash.add(row);
                }
                Ok(row)
            }
            Err(error) => Err(read_failure(&self.member, error)),
        }
    }

    /// The row delivered last was only looked at.
    pub fn unread(&mut self) {
        self.delivered -= 1;
    }

    fn next_filtered(&mut self) -> Outcome<Option<&[u8]>> {
        if self.passed == 0 && self.first > 1 {
            self.go_to_first()?;
        }
        while self.passed < self.last {
            if !self.next_that_meets()? {
                break;
            }
            self.passed += 1;
            if self.passed < self.first {
                continue;
            }
            self.delivered += 1;
            // What `last_row` gives, borrowed so that the hash can take it.
            let row = if self.route.is_some() {
                &self.found
            } else {
                self.reader.last_row()
            };
            if let Some(hash) = &mut self.hash {
                hash.add(row);
            }
            return Ok(Some(row));
        }
        Ok(None)
    }

    /// Goes to the first row of FIRSTOBS= without the pages before it. With a condition only the rows
    /// that meet it count, and those must be looked for.
    fn go_to_first(&mut self) -> Outcome<()> {
        if self.condition.is_some() || self.route.is_some() {
            return Ok(());
        }
        self.passed = self.first - 1;
        if self.passed >= self.last {
            return Ok(());
        }
        let row = self.passed.min(self.reader.metadata().rows);
        let sought = self.reader.seek_row(row);
        sought.map_err(|error| read_failure(&self.member, error))
    }

    /// Makes the next row that meets the condition the last row; false if there is none.
    fn next_that_meets(&mut self) -> Outcome<bool> {
        let Some(route) = &mut self.route else {
            let filled = self.selection.fill(&mut self.reader);
            let filled = filled.map_err(|error| read_failure(&self.member, error))?;
            self.selection.check()?;
            if filled {
                self.selection.take(&mut self.reader, 1);
            }
            return Ok(filled);
        };
        while let Some(row) = route.next_row(&mut self.reader)? {
            let events = &mut self.events;
            let holds = |one: &Condition| is_true(one.holds.value(row, events));
            let meets = self.condition.as_ref().is_none_or(holds);
            if let Some(failure) = self.events.failure.take() {
                return Err(failure);
            }
            if meets {
                // The reader keeps rows that it gives one after the other, but not those at places.
                self.found.clear();
                self.found.extend_from_slice(row);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The next rows that meet the conditions, as the rows of a block and which of them those are;
    /// `None` after the last one, or if rows can only be had one by one.
    pub fn ready(&mut self) -> Outcome<Option<(Rows<'_>, Active)>> {
        if self.route.is_some() || self.first > 1 || self.last < u64::MAX {
            return Ok(None);
        }
        let failure = |error| read_failure(&self.member, error);
        let picks = self.condition.is_some();
        let filled = !picks || self.selection.fill(&mut self.reader).map_err(failure)?;
        self.selection.check()?;
        if !filled {
            return Ok(None);
        }
        let Some(ready) = self.reader.ready().map_err(failure)? else {
            return Ok(None);
        };
        Ok(Some(if picks {
            let (rows, active) = self.selection.left();
            (selection::first(&ready, rows), active)
        } else {
            let count = ready.count.min(ROWS_MAX);
            (selection::first(&ready, count), Active::all(count))
        }))
    }

    /// Goes past the next `count` of the rows that are [`ready`](Self::ready): they are delivered.
    pub fn take(&mut self, count: usize) -> Outcome<()> {
        if self.hash.is_some() {
            for _ in 0..count {
                self.next_row()?;
            }
            return Ok(());
        }
        if self.condition.is_some() {
            self.selection.take(&mut self.reader, count);
            self.passed += count as u64;
        } else {
            self.reader.advance(count);
        }
        self.delivered += count as u64;
        Ok(())
    }

    fn close_index(&mut self) -> Outcome<()> {
        self.route.take().map_or(Ok(()), Route::close)
    }

    /// Closes a file of which no row was wanted.
    pub fn close(mut self, world: &mut World) -> Outcome<()> {
        let name = self.member.full_name();
        self.close_index()?;
        world.inputs.push(DatasetUse {
            name: name.clone(),
            observations: 0,
            variables: self.fields.len() as u64,
            rows: None,
        });
        let FileSource(file) = self.reader.into_source();
        file.close().map_err(|error| Failure::store(&name, &error))
    }

    /// Closes a file that was read once more; the first reading is noted and recorded.
    pub fn close_again(mut self) -> Outcome<()> {
        let name = self.member.full_name();
        self.close_index()?;
        let FileSource(file) = self.reader.into_source();
        file.close().map_err(|error| Failure::store(&name, &error))
    }

    /// Closes the file, notes what was read and adds it to the step's record.
    pub fn finish(mut self, world: &mut World) -> Outcome<u64> {
        self.tell_index(world);
        let condition = self.condition.as_ref().and_then(|one| one.text.as_deref());
        world.note(&format!(
            "There were {} observations read from the data set {}.{}",
            self.delivered,
            self.member.full_name(),
            condition.map_or(String::new(), |text| format!("\nWHERE {text};"))
        ));
        self.finish_unnoted(world)
    }

    /// INFO on the index that was used, with MSGLEVEL=I.
    fn tell_index(&mut self, world: &mut World) {
        let chosen = self.indexing.chosen.take();
        if let Some(chosen) = chosen.filter(|_| world.options.informative) {
            world.log.info(&chosen);
        }
    }

    /// Closes the file and adds what was read to the step's record; SQL does not say it.
    pub fn finish_unnoted(mut self, world: &mut World) -> Outcome<u64> {
        let name = self.member.full_name();
        self.tell_index(world);
        self.close_index()?;
        world.inputs.push(DatasetUse {
            name: name.clone(),
            observations: self.delivered,
            variables: self.fields.len() as u64,
            rows: self.hash.as_ref().map(RowHasher::hash),
        });
        let FileSource(file) = self.reader.into_source();
        file.close()
            .map_err(|error| Failure::store(&name, &error))?;
        Ok(self.delivered)
    }
}

fn read_failure(member: &Member, error: sas7bdat::Error) -> Failure {
    Failure::format(&member.full_name(), &member.path(), error)
}

/// All variables of a file with their places.
fn fields(metadata: &Metadata) -> Vec<Field> {
    let big_endian = metadata.endian == Endian::Big;
    let place = |(variable, offset): (&Variable, &u32)| Field {
        variable: variable.clone(),
        slot: Slot {
            kind: variable.kind,
            offset: *offset,
            length: variable.length,
            big_endian,
        },
    };
    metadata
        .variables
        .iter()
        .zip(&metadata.layout.offsets)
        .map(place)
        .collect()
}

/// Names in a WHERE expression: the data set's variables, nothing else.
pub(super) struct Fields<'a> {
    pub(super) fields: &'a [Field],
    pub(super) dataset: &'a str,
}

impl Scope for Fields<'_> {
    fn variable(&mut self, name: &str, span: &Span) -> Outcome<Slot> {
        let field = self
            .fields
            .iter()
            .find(|field| field.name().eq_ignore_ascii_case(name));
        field.map(|field| field.slot).ok_or_else(|| {
            let message = format!("Variable {name} is not on file {}.", self.dataset);
            Failure::at(span, message)
        })
    }

    fn list(&mut self, list: &VariableList) -> Outcome<Vec<Slot>> {
        let unknown = |name: &str, span: &Span| {
            let message = format!("Variable {name} is not on file {}.", self.dataset);
            Failure::at(span, message)
        };
        let found = select(self.fields, list, unknown)?;
        Ok(found
            .into_iter()
            .map(|index| self.fields[index].slot)
            .collect())
    }
}
