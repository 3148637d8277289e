//! Macro variables and macro definitions of a session: what the language and the steps share.

use super::body::Definition;
use super::mask::unmasked;
use crate::keywords::{NAME_CHARACTERS_MAX, in_name, starts_name};
use base::limits::{MACRO_VALUE_BYTES_MAX, MACRO_VARIABLES_BYTES_MAX};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where CALL SYMPUTX puts a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The nearest one that has the variable, or else the most local one that is not empty.
    Nearest,
    /// Global.
    Global,
    /// The most local one.
    Local,
}

/// The macro variables and macros of a session.
///
/// Names may be given in any case; values are as a program sees them (macro quoting undone).
#[derive(Debug, Clone, Default)]
pub struct Macros {
    globals: BTreeMap<String, String>,
    automatic: BTreeMap<String, Automatic>,
    scopes: Vec<Local>,
    definitions: BTreeMap<String, Arc<Definition>>,
    bytes: usize,
    /// Macros run so far: `&SYSINDEX`.
    invocations: u64,
}

#[derive(Debug, Clone)]
struct Automatic {
    value: String,
    read_only: bool,
}

#[derive(Debug, Clone)]
struct Local {
    name: Arc<str>,
    values: BTreeMap<String, String>,
}

/// A line of `%put _user_`: the table, the name, the value.
pub(crate) type Listed = (String, String, String);

impl Macros {
    /// No variables, no macros.
    pub fn new() -> Self {
        Self::default()
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<String> {
        self.quoted(&name.to_ascii_uppercase())
            .map(|value| unmasked(value).into_owned())
    }

    /// What `%let` does: the nearest variable of this name gets the value, or else a new one of the
    /// most local table.
    ///
    /// Errors are sentences in SAS's words.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let upper = checked_name(name)?;
        let place = match self.place(&upper) {
            Some(place) => place,
            None => self.scopes.len(),
        };
        self.put(place, upper, value)
    }

    /// What CALL SYMPUT and CALL SYMPUTX do.
    pub fn symput(&mut self, name: &str, value: &str, scope: Scope) -> Result<(), String> {
        let upper = checked_name(name)?;
        let filled = || {
            let filled = self.scopes.iter().rposition(|one| !one.values.is_empty());
            filled.map_or(0, |index| index + 1)
        };
        let place = match scope {
            Scope::Global => 0,
            Scope::Local => filled(),
            Scope::Nearest => self.place(&upper).unwrap_or_else(filled),
        };
        self.put(place, upper, value)
    }

    /// Gives an automatic variable its value: one that programs may not assign to if `read_only`.
    pub fn set_automatic(&mut self, name: &str, value: &str, read_only: bool) {
        let value = value.to_owned();
        let automatic = Automatic { value, read_only };
        self.automatic.insert(name.to_ascii_uppercase(), automatic);
    }

    /// Whether there is a variable of this name anywhere.
    pub fn exists(&self, name: &str) -> bool {
        self.quoted(&name.to_ascii_uppercase()).is_some()
    }

    /// Deletes a global variable; false if there is none.
    pub fn delete(&mut self, name: &str) -> bool {
        let Some((name, value)) = self.globals.remove_entry(&name.to_ascii_uppercase()) else {
            return false;
        };
        self.bytes = self.bytes.saturating_sub(name.len() + value.len());
        true
    }

    /// The value as the macro processor keeps it, by upper-case name.
    pub(crate) fn quoted(&self, upper: &str) -> Option<&str> {
        let local = self
            .scopes
            .iter()
            .rev()
            .find_map(|scope| scope.values.get(upper));
        local
            .or_else(|| self.globals.get(upper))
            .or_else(|| self.automatic.get(upper).map(|automatic| &automatic.value))
            .map(String::as_str)
    }

    /// The table that has the variable: 0 is global, n the nth local one.
    fn place(&self, upper: &str) -> Option<usize> {
        let local = self
            .scopes
            .iter()
            .rposition(|scope| scope.values.contains_key(upper));
        local.map(|index| index + 1).or_else(|| {
            (self.globals.contains_key(upper) || self.automatic.contains_key(upper)).then_some(0)
        })
    }

    fn put(&mut self, place: usize, upper: String, value: &str) -> Result<(), String> {
        let mut value = value;
        let mut outcome = Ok(());
        if value.len() > MACRO_VALUE_BYTES_MAX {
            outcome = Err(format!(
                "The text expression length ({}) exceeds maximum length ({MACRO_VALUE_BYTES_MAX}). \
                 The text expression has been truncated to {MACRO_VALUE_BYTES_MAX} characters",
                value.len()
            ));
            let end = value.floor_char_boundary(MACRO_VALUE_BYTES_MAX);
            value = value.get(..end).unwrap_or("");
        }
        if place == 0
            && let Some(automatic) = self.automatic.get_mut(&upper)
        {
            if automatic.read_only {
                return Err(format!(
                    "Attempt to assign a value to a read-only symbolic variable ({upper})"
                ));
            }
            value.clone_into(&mut automatic.value);
            return outcome;
        }
        let table = match place
            .checked_sub(1)
            .and_then(|index| self.scopes.get_mut(index))
        {
            Some(scope) => &mut scope.values,
            None => &mut self.globals,
        };
        let old = table.get(&upper).map_or(0, |old| old.len() + upper.len());
        let bytes = (self.bytes + upper.len() + value.len()).saturating_sub(old);
        if bytes > MACRO_VARIABLES_BYTES_MAX {
            return Err(format!(
                "The macro variables would take more than {} MiB; {upper} is not assigned",
                MACRO_VARIABLES_BYTES_MAX >> 20
            ));
        }
        self.bytes = bytes;
        table.insert(upper, value.to_owned());
        outcome
    }

    /// `%local`: an empty variable of the most local table unless it has one.
    pub(crate) fn declare_local(&mut self, name: &str) -> Result<(), String> {
        let upper = checked_name(name)?;
        let place = self.scopes.len();
        match self.scopes.last() {
            Some(scope) if scope.values.contains_key(&upper) => Ok(()),
            _ => self.put(place, upper, ""),
        }
    }

    /// `%global`: an empty global variable unless there is one.
    pub(crate) fn declare_global(&mut self, name: &str) -> Result<(), String> {
        let upper = checked_name(name)?;
        match self.place(&upper) {
            Some(0) => Ok(()),
            Some(_) => Err(format!(
                "Attempt to %GLOBAL a name ({upper}) which exists in a local environment"
            )),
            None => self.put(0, upper, ""),
        }
    }

    pub(crate) fn is_local(&self, upper: &str) -> bool {
        self.place(upper).is_some_and(|place| place > 0)
    }

    pub(crate) fn is_global(&self, upper: &str) -> bool {
        self.globals.contains_key(upper) || self.automatic.contains_key(upper)
    }

    /// A macro starts: a new most local table.
    pub(crate) fn open_scope(&mut self, name: &Arc<str>) {
        self.invocations += 1;
        let index = self.invocations.to_string();
        self.set_automatic("SYSINDEX", &index, true);
        self.set_automatic("SYSMACRONAME", name, true);
        let (name, values) = (Arc::clone(name), BTreeMap::new());
        self.scopes.push(Local { name, values });
    }

    pub(crate) fn scopes(&self) -> usize {
        self.scopes.len()
    }

    /// Macros ended: only so many local tables are left.
    pub(crate) fn truncate_scopes(&mut self, count: usize) {
        for scope in self.scopes.drain(count.min(self.scopes.len())..) {
            let bytes = scope
                .values
                .iter()
                .map(|(name, value)| name.len() + value.len());
            self.bytes = self.bytes.saturating_sub(bytes.sum());
        }
        let name = self
            .scopes
            .last()
            .map_or("", |scope| &scope.name)
            .to_owned();
        self.set_automatic("SYSMACRONAME", &name, true);
    }

    /// Gives a parameter its value in the table that is most local.
    pub(crate) fn bind(&mut self, upper: &str, value: &str) -> Result<(), String> {
        self.put(self.scopes.len(), upper.to_owned(), value)
    }

    pub(crate) fn define(&mut self, definition: Arc<Definition>) {
        self.definitions
            .insert(definition.name.to_string(), definition);
    }

    /// Forgets a macro; false if there is none.
    pub(crate) fn undefine(&mut self, upper: &str) -> bool {
        self.definitions.remove(upper).is_some()
    }

    pub(crate) fn definition(&self, upper: &str) -> Option<&Arc<Definition>> {
        self.definitions.get(upper)
    }

    /// Variables for `%put _user_` and its kind (any case), most local first; `None` if the word is
    /// none of them.
    pub(crate) fn list(&self, word: &str) -> Option<Vec<Listed>> {
        let (locals, global, automatic) = match word.to_ascii_uppercase().as_str() {
            "_ALL_" => (usize::MAX, true, true),
            "_USER_" => (usize::MAX, true, false),
            "_LOCAL_" => (1, false, false),
            "_GLOBAL_" => (0, true, false),
            "_AUTOMATIC_" => (0, false, true),
            _ => return None,
        };
        let show = |table: &str, name: &String, value: &str| {
            (table.to_owned(), name.clone(), unmasked(value).into_owned())
        };
        let mut listed = Vec::new();
        for scope in self.scopes.iter().rev().take(locals) {
            let all = scope.values.iter();
            listed.extend(all.map(|(name, value)| show(&scope.name, name, value)));
        }
        if global {
            let all = self.globals.iter();
            listed.extend(all.map(|(name, value)| show("GLOBAL", name, value)));
        }
        if automatic {
            let all = self.automatic.iter();
            listed.extend(all.map(|(name, one)| show("AUTOMATIC", name, &one.value)));
        }
        Some(listed)
    }
}

fn checked_name(name: &str) -> Result<String, String> {
    let name = name.trim();
    if !name.starts_with(starts_name) || !name.chars().all(in_name) {
        return Err(format!(
            "Symbolic variable name {} must begin with a letter or underscore and hold only \
             letters, digits and underscores",
            name.to_ascii_uppercase()
        ));
    }
    if name.len() > NAME_CHARACTERS_MAX {
        return Err(format!(
            "Symbolic variable name {} is longer than {NAME_CHARACTERS_MAX} characters",
            name.to_ascii_uppercase()
        ));
    }
    Ok(name.to_ascii_uppercase())
}
