//! Compiling SET, MERGE, UPDATE and BY.

use std::collections::HashMap;

use base::diag::Span;
use lang::ast::{ByList, DatasetOptionValue, DatasetRef, Setting};
use sas7bdat::Kind;

use super::by::{By, KeyPart};
use super::keyed::Keyed;
use super::update::Update;
use super::{Blank, Feed, Order, Reading, Source};
use crate::dataset::input::Input;
use crate::datastep::compile::Builder;
use crate::datastep::program::Operation;
use crate::expr::Slot;
use crate::failure::{Failure, Outcome};

/// Length of a new variable of INDSNAME=: a libref, a period, a member.
const LIBREF_AND_MEMBER_BYTES: u32 = 41;

impl Builder<'_> {
    /// A SET, MERGE or UPDATE statement.
    pub(in crate::datastep) fn source(
        &mut self,
        reading: Reading,
        datasets: &[DatasetRef],
        options: &[Setting],
        span: &Span,
    ) -> Outcome<Operation> {
        let mut inputs = Vec::new();
        let datasets = self.listed(datasets)?;
        if reading == Reading::Update && datasets.len() != 2 {
            let message = "UPDATE needs two data sets: a master and its transactions.";
            return Err(Failure::at(span, message));
        }
        for dataset in &datasets {
            let (dataset, contributes) = without_in(dataset);
            let dataset = self.last_made(&dataset)?;
            let input = Input::open(self.world, &dataset)?;
            let name = input.member().full_name();
            self.warn_of_lengths(&input);
            self.pdv.add_fields(input.fields(), &name)?;
            let has_text =
                |field: &crate::dataset::input::Field| field.slot.kind == Kind::Character;
            if input.fields().iter().any(has_text) {
                self.pdv.meet(input.metadata().encoding, &name)?;
            }
            let contributes = contributes.map(|name| self.pdv.automatic(&name, &dataset.span));
            inputs.push((input, contributes.transpose()?));
        }
        let mut source = Source {
            feeds: Vec::new(),
            order: match reading {
                Reading::Set => Order::Sequence,
                Reading::Merge => Order::Merge,
                Reading::Update => Order::Update(Update::new(span)),
            },
            slots: Vec::new(),
            blank: Blank::default(),
            current: 0,
            end: None,
            nobs: None,
            named: None,
            by: None,
            repeats: false,
        };
        for option in options {
            self.source_option(&mut source, option, &inputs, reading)?;
        }
        for (input, contributes) in inputs {
            let pairs = self.pairs(&input);
            source.slots.extend(pairs.iter().map(|(_, to)| *to));
            source.feeds.push(Feed::new(input, &pairs, contributes));
        }
        let first = source.feeds.first().and_then(|feed| feed.contributes);
        if let (Some(slot), Reading::Set) = (first, reading) {
            self.pdv
                .initial
                .push((slot, crate::datastep::pdv::Initial::Number(1.0)));
        }
        if matches!(source.order, Order::Point(_))
            && source.feeds.iter().any(|f| f.input.is_filtered())
        {
            let message = "WHERE=, FIRSTOBS= and OBS= cannot be used with POINT=.";
            return Err(Failure::at(span, message));
        }
        let key = options
            .iter()
            .find(|option| option.name.eq_ignore_ascii_case("KEY"));
        if let Some(key) = key {
            let unique = |option: &Setting| option.name.eq_ignore_ascii_case("UNIQUE");
            self.keyed(&mut source, key, options.iter().any(unique))?;
        }
        self.sources.push(source);
        Ok(Operation::Read(self.sources.len() - 1))
    }

    /// Where the variables of a data set lie in its rows and in the PDV.
    fn pairs(&self, input: &Input) -> Vec<(Slot, Slot)> {
        let places = input.fields().iter().map(|field| {
            let index = self.pdv.find(&field.variable.name);
            let index = index.expect("its data set added it");
            (field.slot, self.pdv.variables[index].slot)
        });
        places.collect()
    }

    /// The data sets that are meant: `d:` stands for those that are there, in the order of their
    /// names.
    fn listed(&self, datasets: &[DatasetRef]) -> Outcome<Vec<DatasetRef>> {
        let mut listed = Vec::new();
        for dataset in datasets {
            let Some(start) = dataset.member.strip_suffix(':') else {
                listed.push(dataset.clone());
                continue;
            };
            let named = |member: &str| DatasetRef {
                member: member.to_owned(),
                ..dataset.clone()
            };
            let first = self.world.libraries.resolve(&named(start))?;
            let mut members = first.library.members(self.world.store.as_ref())?;
            members.retain(|member| member.starts_with(&start.to_ascii_lowercase()));
            members.sort_unstable();
            if members.is_empty() {
                let name = first.full_name();
                let message = format!("The data set list ({name}:) does not contain any members.");
                return Err(Failure::at(&dataset.span, message));
            }
            listed.extend(members.iter().map(|member| named(member)));
        }
        Ok(listed)
    }

    /// KEY= with the name of an index.
    fn keyed(&mut self, source: &mut Source, key: &Setting, unique: bool) -> Outcome<()> {
        let answer = self.pdv.automatic("_IORC_", &key.span)?;
        let [feed] = source.feeds.as_mut_slice() else {
            return Err(Failure::at(&key.span, "KEY= needs one data set"));
        };
        if feed.input.is_filtered() {
            let message = "WHERE=, FIRSTOBS= and OBS= cannot be used with KEY=";
            return Err(Failure::at(&key.span, message));
        }
        let name = key.value.as_deref().unwrap_or_default();
        let pdv = &self.pdv;
        let find = |name: &str| pdv.find(name).map(|index| pdv.variables[index].slot);
        let keyed = Keyed::new(feed, name, unique, answer, &key.span, find)?;
        source.order = Order::Key(keyed);
        Ok(())
    }

    /// `_LAST_` is the data set made last.
    fn last_made(&self, dataset: &DatasetRef) -> Outcome<DatasetRef> {
        let last = dataset.libref.is_none() && dataset.member.eq_ignore_ascii_case("_last_");
        match (&self.world.last_dataset, last) {
            (_, false) => Ok(dataset.clone()),
            (Some((libref, member)), true) => Ok(DatasetRef {
                libref: Some(libref.clone()),
                member: member.clone(),
                ..dataset.clone()
            }),
            (None, true) => {
                let message = "There is not a default input data set (_LAST_ is _NULL_).";
                Err(Failure::at(&dataset.span, message))
            }
        }
    }

    fn source_option(
        &mut self,
        source: &mut Source,
        option: &Setting,
        inputs: &[(Input, Option<Slot>)],
        reading: Reading,
    ) -> Outcome<()> {
        let set = reading == Reading::Set;
        let name = option.value.as_deref().unwrap_or_default();
        match option.name.to_ascii_uppercase().as_str() {
            "END" => source.end = Some(self.pdv.automatic(name, &option.span)?),
            "UPDATEMODE" if reading == Reading::Update => {
                let checks = match name.to_ascii_uppercase().as_str() {
                    "MISSINGCHECK" => true,
                    "NOMISSINGCHECK" => false,
                    _ => {
                        let message = "UPDATEMODE= is MISSINGCHECK or NOMISSINGCHECK.";
                        return Err(Failure::at(&option.span, message));
                    }
                };
                if let Order::Update(update) = &mut source.order {
                    update.missing_check = checks;
                }
            }
            "NOBS" if set => {
                let rows = inputs.iter().map(|(input, _)| input.metadata().rows).sum();
                source.nobs = Some((self.pdv.automatic(name, &option.span)?, rows));
            }
            "INDSNAME" if set => {
                let longest = LIBREF_AND_MEMBER_BYTES;
                source.named = Some(self.pdv.automatic_text(name, longest, &option.span)?);
            }
            // After the data set is known; UNIQUE is a part of it.
            "KEY" | "UNIQUE" if set => {}
            "POINT" if set => {
                source.order = Order::Point(self.pdv.automatic(name, &option.span)?);
            }
            other => {
                let statement = match reading {
                    Reading::Set => "SET",
                    Reading::Merge => "MERGE",
                    Reading::Update => "UPDATE",
                };
                let message = format!("The option {other}= of {statement} is not implemented yet.");
                return Err(Failure::at(&option.span, message));
            }
        }
        Ok(())
    }

    /// Texts of a data set that are longer than the variable they go into lose their end.
    fn warn_of_lengths(&mut self, input: &Input) {
        for field in input.fields() {
            let Some(index) = self.pdv.find(&field.variable.name) else {
                continue;
            };
            let known = &self.pdv.variables[index];
            if !known.undecided
                && known.assigned
                && known.slot.kind == Kind::Character
                && field.slot.kind == Kind::Character
                && known.slot.length < field.slot.length
            {
                let name = known.variable.name.clone();
                self.world.log.warning(&format!(
                    "Multiple lengths were specified for the variable {name} by input data \
                     set(s). This can cause truncation of data."
                ));
            }
        }
    }

    /// A BY statement belongs to the SET or MERGE before it.
    pub(in crate::datastep) fn by(&mut self, list: &ByList, span: &Span) -> Outcome<()> {
        let merges = |source: &Source| matches!(source.order, Order::Merge | Order::Update(_));
        let fail = |message: &str| Err(Failure::at(span, message));
        match self.sources.last() {
            None => {
                return fail("No SET, MERGE, UPDATE, or MODIFY statement is present before BY.");
            }
            Some(source) if source.by.is_some() => {
                return fail("There is more than one BY statement for a SET or MERGE statement.");
            }
            Some(source) if matches!(source.order, Order::Point(_) | Order::Key(_)) => {
                return fail("BY cannot be used with POINT= and KEY=.");
            }
            Some(source) if list.not_sorted && (merges(source) || source.feeds.len() > 1) => {
                return fail("The NOTSORTED option needs a SET statement with one data set.");
            }
            Some(_) => {}
        }
        let (mut names, mut descending) = (Vec::new(), Vec::new());
        for key in &list.keys {
            for index in self.by_variables(&key.variable)? {
                names.push(self.pdv.variables[index].variable.name.clone());
                descending.push(key.descending);
            }
        }
        let (mut first, mut last) = (Vec::new(), Vec::new());
        for name in &names {
            first.push(self.pdv.automatic(&format!("FIRST.{name}"), span)?);
            last.push(self.pdv.automatic(&format!("LAST.{name}"), span)?);
            let upper = name.to_ascii_uppercase();
            self.pdv.groups_wanted.retain(|(wanted, _)| {
                *wanted != format!("FIRST.{upper}") && *wanted != format!("LAST.{upper}")
            });
        }
        let source = self.sources.last_mut().expect("the match above saw it");
        if !list.not_sorted && !descending.contains(&true) {
            let wanted: Vec<&str> = names.iter().map(String::as_str).collect();
            for feed in &mut source.feeds {
                feed.input.order_by(&wanted)?;
            }
        }
        let mut keys = Vec::new();
        for feed in &source.feeds {
            keys.push(key_parts(feed, &names, &descending)?);
        }
        if let [_, transactions] = keys.as_slice() {
            let slots: Vec<Slot> = transactions.iter().map(|part| part.slot).collect();
            source.check_missing(&slots);
        }
        let uneven = even_lengths(&mut keys);
        source.by = Some(By::new(keys, first, last, list.not_sorted));
        for index in uneven {
            let name = &names[index];
            self.world.log.warning(&format!(
                "Multiple lengths were specified for the BY variable {name} by input data sets. \
                 This might cause unexpected results."
            ));
        }
        Ok(())
    }

    fn by_variables(&mut self, list: &lang::ast::VariableList) -> Outcome<Vec<usize>> {
        if let lang::ast::VariableList::Name(name, span) = list
            && self.pdv.find(name).is_none()
        {
            let source = self.sources.last().expect("the caller looked");
            let dataset = source
                .feeds
                .first()
                .map(|feed| feed.input.member().full_name());
            let dataset = dataset.unwrap_or_default();
            let message = format!("BY variable {name} is not on input data set {dataset}.");
            return Err(Failure::at(span, message));
        }
        self.pdv.select(list)
    }
}

/// `dataset` without its IN= option, and the variable that option names.
fn without_in(dataset: &DatasetRef) -> (DatasetRef, Option<String>) {
    let mut dataset = dataset.clone();
    let mut contributes = None;
    dataset.options.retain(|option| match &option.value {
        DatasetOptionValue::Text(name) if option.name.eq_ignore_ascii_case("in") => {
            contributes = Some(name.clone());
            false
        }
        _ => true,
    });
    (dataset, contributes)
}

fn key_parts(feed: &Feed, names: &[String], descending: &[bool]) -> Outcome<Vec<KeyPart>> {
    let places: HashMap<String, Slot> = feed
        .input
        .fields()
        .iter()
        .map(|field| (field.variable.name.to_ascii_uppercase(), field.slot))
        .collect();
    let parts = names.iter().zip(descending).map(|(name, descending)| {
        let Some(slot) = places.get(&name.to_ascii_uppercase()) else {
            let dataset = feed.input.member().full_name();
            return Err(Failure::world(format!(
                "BY variable {name} is not on input data set {dataset}."
            )));
        };
        Ok(KeyPart {
            slot: *slot,
            bytes: if slot.kind == Kind::Numeric {
                8
            } else {
                slot.length as usize
            },
            descending: *descending,
        })
    });
    parts.collect()
}

/// Gives texts of the same BY variable the same room in all keys; returns which ones differed.
fn even_lengths(keys: &mut [Vec<KeyPart>]) -> Vec<usize> {
    let count = keys.first().map_or(0, Vec::len);
    let mut uneven = Vec::new();
    for index in 0..count {
        let lengths = keys.iter().map(|parts| parts[index].bytes);
        let longest = lengths.clone().max().unwrap_or(8);
        if lengths.min() != Some(longest) {
            uneven.push(index);
        }
        for parts in keys.iter_mut() {
            parts[index].bytes = longest;
        }
    }
    uneven
}
