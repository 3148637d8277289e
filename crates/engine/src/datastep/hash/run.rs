//! Running methods of hash objects.

use base::diag::Span;
use sas7bdat::{Encoding, Kind};

use super::compile::{dataset, room};
use super::{Duplicates, Given, Method, MethodCall, Named, ObjectKind, Shape, State};
use crate::dataset::copy::{RowCopy, store_number, store_text};
use crate::dataset::input::Input;
use crate::dataset::output::{Output, OutputPlan};
use crate::datastep::run::Running;
use crate::expr::Slot;
use crate::expr::evaluate::{order_key, trimmed};
use crate::failure::{Failure, Outcome};
use crate::hash_table::Table;

/// What a method returns when it did not find or do what it was asked.
const FAILED: f64 = 160_038.0;

impl Running<'_> {
    /// Calls a method; 0 if all is well.
    pub(in crate::datastep) fn method(&mut self, call: &MethodCall) -> Outcome<f64> {
        let index = call.object;
        match &call.method {
            Method::Nothing => return Ok(0.0),
            Method::Declare => {
                self.declare(index);
                return Ok(0.0);
            }
            Method::First | Method::Last | Method::Next | Method::Prev => {
                return self.step_iterator(index, &call.method, &call.span);
            }
            Method::Delete => {
                self.objects.states[index] = State::default();
                return Ok(0.0);
            }
            _ => {}
        }
        if self.objects.states[index].table.is_none() {
            return Err(not_made(&self.objects.shapes[index].name, &call.span));
        }
        let result = self.call(call)?;
        if call.alone && result == FAILED {
            let message = match &call.method {
                Method::Add(..) => "Duplicate key.",
                Method::Find(_) | Method::Check(_) | Method::Remove(_) => "Key not found.",
                _ => return Ok(result),
            };
            return Err(Failure::at(&call.span, message));
        }
        Ok(result)
    }

    /// Methods of a hash object that is there.
    fn call(&mut self, call: &MethodCall) -> Outcome<f64> {
        let index = call.object;
        match &call.method {
            Method::DefineDone => self.load(index, &call.span),
            Method::Find(keys) => {
                let key = self.key(index, keys, &call.span)?;
                let found = self.table(index).find(&key);
                self.objects.states[index].found = found;
                Ok(self.take(index, found))
            }
            Method::FindNext => {
                let now = self.objects.states[index].found;
                let next = now.and_then(|item| self.table(index).next_of_key(item));
                self.objects.states[index].found = next;
                Ok(self.take(index, next))
            }
            Method::HasNext(answer) => {
                let now = self.objects.states[index].found;
                let next = now.and_then(|item| self.table(index).next_of_key(item));
                self.store(answer, f64::from(u8::from(next.is_some())));
                Ok(0.0)
            }
            Method::Check(keys) => {
                let key = self.key(index, keys, &call.span)?;
                Ok(code(self.table(index).find(&key).is_some()))
            }
            Method::Remove(keys) => {
                let key = self.key(index, keys, &call.span)?;
                self.objects.states[index].found = None;
                Ok(code(self.table(index).remove(&key)))
            }
            Method::Add(keys, data) => {
                let (key, data) = self.item(index, keys, data, &call.span)?;
                self.add_item(index, &key, &data)
            }
            Method::Ref(keys) => {
                let (key, data) = self.item(index, keys, &[], &call.span)?;
                if self.table(index).find(&key).is_some() {
                    return Ok(0.0);
                }
                self.add_item(index, &key, &data)
            }
            Method::Replace(keys, data) => {
                let (key, data) = self.item(index, keys, data, &call.span)?;
                self.replace(index, &key, &data)
            }
            Method::Items => Ok(self.table(index).items() as f64),
            Method::Clear => {
                self.table(index).clear();
                Ok(0.0)
            }
            Method::Output(name) => {
                let name = name.value(&self.row, &mut self.events).into_owned();
                let name = String::from_utf8_lossy(trimmed(&name)).into_owned();
                self.write_items(index, &name, &call.span)?;
                Ok(0.0)
            }
            _ => unreachable!("`method` has called all others"),
        }
    }

    fn shape(&self, index: usize) -> &Shape {
        match &self.objects.shapes[index].kind {
            ObjectKind::Hash(shape) => shape,
            ObjectKind::Iterator(_) => unreachable!("only hash objects have these methods"),
        }
    }

    fn table(&mut self, index: usize) -> &mut Table {
        let table = &mut self.objects.states[index].table;
        table.as_mut().expect("the caller looked")
    }

    fn declare(&mut self, index: usize) {
        self.objects.states[index] = State::default();
        if let ObjectKind::Hash(shape) = &self.objects.shapes[index].kind {
            let bytes = |named: &[Named]| places(named).map(|slot| room(&slot)).sum();
            let table = Table::new(bytes(&shape.keys), bytes(&shape.data));
            self.objects.states[index].table = Some(table);
        }
    }

    /// The key of a call: the values given, or those of the key variables.
    fn key(&mut self, index: usize, given: &[Given], span: &Span) -> Outcome<Vec<u8>> {
        let slots: Vec<Slot> = places(&self.shape(index).keys).collect();
        if given.is_empty() {
            let mut key = Vec::new();
            for slot in slots {
                encode_key(&slot, &self.row, &mut key);
            }
            return Ok(key);
        }
        let row = self.given_row(&slots, given, span)?;
        let mut key = Vec::new();
        for slot in &slots {
            encode_key(slot, &row, &mut key);
        }
        Ok(key)
    }

    /// A PDV with the values given in the places of `slots`.
    fn given_row(&mut self, slots: &[Slot], given: &[Given], span: &Span) -> Outcome<Vec<u8>> {
        if given.len() != slots.len() {
            let message = "Incorrect number of values given for the method of a hash object.";
            return Err(Failure::at(span, message));
        }
        let mut row = self.row.clone();
        for (slot, value) in slots.iter().zip(given) {
            match (value, slot.kind) {
                (Given::Number(number), Kind::Numeric) => {
                    let value = number.value(&self.row, &mut self.events);
                    store_number(slot, &mut row, value);
                }
                (Given::Text(text), Kind::Character) => {
                    let value = text.value(&self.row, &mut self.events);
                    store_text(slot, &mut row, &value);
                }
                _ => {
                    let message = "A value given for a hash object has not the type of its key.";
                    return Err(Failure::at(span, message));
                }
            }
        }
        Ok(row)
    }

    fn item(
        &mut self,
        index: usize,
        keys: &[Given],
        data: &[Given],
        span: &Span,
    ) -> Outcome<(Vec<u8>, Vec<u8>)> {
        let key = self.key(index, keys, span)?;
        let slots: Vec<Slot> = places(&self.shape(index).data).collect();
        let given;
        let row = if data.is_empty() {
            &self.row
        } else {
            given = self.given_row(&slots, data, span)?;
            &given
        };
        let bytes = slots.iter().flat_map(|slot| slot.bytes(row)).copied();
        Ok((key, bytes.collect()))
    }

    /// Loads the data of an item into its variables.
    fn take(&mut self, index: usize, item: Option<u32>) -> f64 {
        let Some(item) = item else {
            return FAILED;
        };
        let ObjectKind::Hash(shape) = &self.objects.shapes[index].kind else {
            return FAILED;
        };
        let Some(table) = &self.objects.states[index].table else {
            return FAILED;
        };
        let mut data = table.data(item);
        for slot in places(&shape.data) {
            let (value, rest) = data.split_at(room(&slot));
            let start = slot.offset as usize;
            self.row[start..start + value.len()].copy_from_slice(value);
            data = rest;
        }
        0.0
    }

    fn add_item(&mut self, index: usize, key: &[u8], data: &[u8]) -> Outcome<f64> {
        let multidata = self.shape(index).multidata;
        if !multidata && self.table(index).find(key).is_some() {
            return Ok(FAILED);
        }
        self.insert(index, key, data)?;
        Ok(0.0)
    }

    fn replace(&mut self, index: usize, key: &[u8], data: &[u8]) -> Outcome<f64> {
        if let Some(first) = self.table(index).find(key) {
            let mut item = Some(first);
            while let Some(one) = item {
                let table = self.table(index);
                table.set_data(one, data);
                item = table.next_of_key(one);
            }
            return Ok(0.0);
        }
        self.insert(index, key, data)?;
        Ok(0.0)
    }

    fn insert(&mut self, index: usize, key: &[u8], data: &[u8]) -> Outcome<()> {
        let growth = self.table(index).growth();
        if growth > 0 {
            let tables = self.objects.states.iter().flat_map(|state| &state.table);
            let used: u64 = tables.map(Table::bytes).sum();
            if used + growth > self.world.options.step_memory() {
                return Err(out_of_memory(self.table(index).items()));
            }
        }
        match self.table(index).add(key, data) {
            Some(_) => Ok(()),
            None => Err(out_of_memory(self.table(index).items())),
        }
    }

    /// DEFINEDONE: reads DATASET: into the object.
    fn load(&mut self, index: usize, span: &Span) -> Outcome<f64> {
        let Some(dataset) = self.shape(index).dataset.clone() else {
            return Ok(0.0);
        };
        let mut input = Input::open(self.world, &dataset)?;
        let name = input.member().full_name();
        let wanted = self.shape(index);
        let pairs = |named: &[Named]| -> Outcome<Vec<(Slot, Slot)>> {
            let pair = |one: &Named| {
                let is = |name: &str| name.eq_ignore_ascii_case(&one.name);
                let field = input.fields().iter().find(|field| is(&field.variable.name));
                let slot = one.slot.expect("objects are finished");
                match field {
                    Some(field) if field.slot.kind == slot.kind => Ok((field.slot, slot)),
                    Some(_) => Err(Failure::at(
                        &one.span,
                        format!(
                            "Type mismatch for variable {} of data set {name}.",
                            one.name
                        ),
                    )),
                    None => Err(Failure::at(
                        &one.span,
                        format!("Variable {} is not on file {name}.", one.name),
                    )),
                }
            };
            named.iter().map(pair).collect()
        };
        let keys: Vec<Slot> = places(&wanted.keys).collect();
        let data: Vec<Slot> = places(&wanted.data).collect();
        let copy = RowCopy::new(&[pairs(&wanted.keys)?, pairs(&wanted.data)?].concat());
        let (multidata, duplicates) = (wanted.multidata, wanted.duplicates);
        // The variables of the step keep their values: rows go through a PDV of their own.
        let mut row = self.row.clone();
        let (mut key, mut item) = (Vec::new(), Vec::new());
        while let Some(read) = input.next_row()? {
            copy.apply(read, &mut row);
            key.clear();
            item.clear();
            for slot in &keys {
                encode_key(slot, &row, &mut key);
            }
            for slot in &data {
                item.extend_from_slice(slot.bytes(&row));
            }
            let known = if multidata {
                None
            } else {
                self.table(index).find(&key)
            };
            match (known, duplicates) {
                (None, _) => self.insert(index, &key, &item)?,
                (Some(_), Duplicates::First) => {}
                (Some(known), Duplicates::Replace) => self.table(index).set_data(known, &item),
                (Some(_), Duplicates::Error) => {
                    let message = format!("Duplicate key found when loading data set {name}.");
                    return Err(Failure::at(span, message));
                }
            }
        }
        input.finish(self.world)?;
        Ok(0.0)
    }

    /// OUTPUT: the data of all items as a data set.
    fn write_items(&mut self, index: usize, name: &str, span: &Span) -> Outcome<()> {
        let member = self.world.libraries.resolve(&dataset(name, span)?)?;
        let shape = self.shape(index);
        let ordered = shape.ordered;
        let slots: Vec<Slot> = places(&shape.data).collect();
        let names: Vec<String> = shape.data.iter().map(|one| one.name.clone()).collect();
        let variables: Vec<_> = names.iter().map(|name| self.dump.variable(name)).collect();
        let plan = OutputPlan {
            compress: None,
            bufsize: None,
            label: String::new(),
            creator: "DATASTEP",
            encoding: self.encoding.unwrap_or(Encoding::UTF_8),
            indexes: Vec::new(),
        };
        let mut output = Output::create(self.world, member, &variables, plan)?;
        let mut offset = 0;
        let pairs: Vec<(Slot, Slot)> = slots
            .iter()
            .zip(&variables)
            .zip(&output.layout().offsets)
            .map(|((slot, variable), to)| {
                let from = Slot { offset, ..*slot };
                offset += slot.length;
                let to = Slot {
                    kind: slot.kind,
                    offset: *to,
                    length: variable.length,
                    big_endian: false,
                };
                (from, to)
            })
            .collect();
        let copy = RowCopy::new(&pairs);
        let mut buffer = vec![0; output.layout().row_bytes as usize];
        let table = self.table(index);
        let order = table.in_order(ordered).to_vec();
        for item in order {
            copy.apply(table.data(item), &mut buffer);
            if let Err(failure) = output.write_row(&buffer) {
                output.discard(self.world);
                return Err(failure);
            }
        }
        output.finish(self.world)?;
        Ok(())
    }

    /// FIRST, LAST, NEXT, PREV of an iterator.
    fn step_iterator(&mut self, index: usize, method: &Method, span: &Span) -> Outcome<f64> {
        let ObjectKind::Iterator(hash) = self.objects.shapes[index].kind else {
            unreachable!("only iterators have these methods")
        };
        let ordered = self.shape(hash).ordered;
        let at = self.objects.states[index].at;
        let Some(table) = &mut self.objects.states[hash].table else {
            return Err(not_made(&self.objects.shapes[hash].name, span));
        };
        let order = table.in_order(ordered);
        let place = at.and_then(|at| usize::try_from(at).ok());
        let next = match (method, place) {
            (Method::First, _) | (Method::Next, None) => Some(0),
            (Method::Last, _) | (Method::Prev, None) => order.len().checked_sub(1),
            (Method::Next, Some(place)) => Some(place + 1),
            (_, Some(place)) => place.checked_sub(1),
            (_, None) => None,
        };
        let item = next.and_then(|next| order.get(next)).copied();
        let at = next.and_then(|next| u32::try_from(next).ok());
        if item.is_some() {
            self.objects.states[index].at = at;
        }
        Ok(self.take(hash, item))
    }
}

fn places(named: &[Named]) -> impl Iterator<Item = Slot> + '_ {
    named
        .iter()
        .map(|one| one.slot.expect("objects are finished"))
}

/// Adds a key value as bytes whose order is that of the values.
fn encode_key(slot: &Slot, row: &[u8], key: &mut Vec<u8>) {
    match slot.kind {
        Kind::Numeric => key.extend_from_slice(&order_key(slot.number(row)).to_be_bytes()),
        Kind::Character => key.extend_from_slice(slot.bytes(row)),
    }
}

fn code(good: bool) -> f64 {
    if good { 0.0 } else { FAILED }
}

fn not_made(name: &str, span: &Span) -> Failure {
    let message = format!("Uninitialized object {name}: its DECLARE was not executed.");
    Failure::at(span, message)
}

fn out_of_memory(items: usize) -> Failure {
    let mut failure = Failure::world(format!(
        "Hash object added {items} items when memory failure occurred."
    ));
    failure.lines.push(crate::failure::FailureLine::Detail(
        "FATAL: Insufficient memory to execute DATA step program. Aborted during the EXECUTION \
         phase."
            .to_owned(),
    ));
    failure.lines.push(crate::failure::FailureLine::World(
        "The SAS System stopped processing this step because of insufficient memory.".to_owned(),
    ));
    failure
}
