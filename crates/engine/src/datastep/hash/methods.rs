//! The methods and attributes of objects by name: what compiles each, and what there is of it.

use lang::ast::MethodArgument;
use lang::{Support, Word};

use super::{Method, ObjectKind};
use crate::datastep::compile::Builder;
use crate::datastep::program::Operation;
use crate::failure::Outcome;

/// Compiles a call of a hash object's method; `None` if its arguments are not known.
type Compile =
    fn(&mut Builder<'_>, usize, &[MethodArgument], &mut Vec<Operation>) -> Outcome<Option<Method>>;

/// A method or an attribute.
struct Entry {
    /// Upper case.
    name: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// Of a hash object.
    Hash(Compile),
    /// Of a hash object, without arguments.
    Bare(fn() -> Method),
    /// Of an iterator.
    Iterator(fn() -> Method),
    /// An attribute of a hash object.
    Attribute(fn() -> Method),
    /// Known and refused.
    Refused,
}

const fn entry(name: &'static str, kind: Kind) -> Entry {
    Entry { name, kind }
}

static METHODS: &[Entry] = &[
    entry(
        "ADD",
        Kind::Hash(|builder, _, arguments, out| {
            let (keys, data) = builder.given(arguments, out)?;
            Ok(Some(Method::Add(keys, data)))
        }),
    ),
    entry(
        "CHECK",
        Kind::Hash(|builder, _, arguments, out| {
            Ok(Some(Method::Check(builder.given(arguments, out)?.0)))
        }),
    ),
    entry("CLEAR", Kind::Bare(|| Method::Clear)),
    entry(
        "DEFINEDATA",
        Kind::Hash(|builder, index, arguments, _| builder.define(index, false, arguments)),
    ),
    entry(
        "DEFINEDONE",
        Kind::Hash(|builder, index, _, _| Ok(Some(builder.define_done(index)))),
    ),
    entry(
        "DEFINEKEY",
        Kind::Hash(|builder, index, arguments, _| builder.define(index, true, arguments)),
    ),
    entry("DELETE", Kind::Bare(|| Method::Delete)),
    entry("DELETE", Kind::Iterator(|| Method::Delete)),
    entry(
        "FIND",
        Kind::Hash(|builder, _, arguments, out| {
            Ok(Some(Method::Find(builder.given(arguments, out)?.0)))
        }),
    ),
    entry("FIND_NEXT", Kind::Bare(|| Method::FindNext)),
    entry("FIRST", Kind::Iterator(|| Method::First)),
    entry(
        "HAS_NEXT",
        Kind::Hash(|builder, _, arguments, _| Ok(builder.has_next(arguments))),
    ),
    entry("LAST", Kind::Iterator(|| Method::Last)),
    entry("NEXT", Kind::Iterator(|| Method::Next)),
    entry("NUM_ITEMS", Kind::Attribute(|| Method::Items)),
    entry(
        "OUTPUT",
        Kind::Hash(|builder, _, arguments, out| builder.output_method(arguments, out)),
    ),
    entry("PREV", Kind::Iterator(|| Method::Prev)),
    entry(
        "REF",
        Kind::Hash(|builder, _, arguments, out| {
            Ok(Some(Method::Ref(builder.given(arguments, out)?.0)))
        }),
    ),
    entry(
        "REMOVE",
        Kind::Hash(|builder, _, arguments, out| {
            Ok(Some(Method::Remove(builder.given(arguments, out)?.0)))
        }),
    ),
    entry(
        "REPLACE",
        Kind::Hash(|builder, _, arguments, out| {
            let (keys, data) = builder.given(arguments, out)?;
            Ok(Some(Method::Replace(keys, data)))
        }),
    ),
    entry("DO_OVER", Kind::Refused),
    entry("EQUALS", Kind::Refused),
    entry("FIND_PREV", Kind::Refused),
    entry("HAS_PREV", Kind::Refused),
    entry("ITEM_SIZE", Kind::Refused),
    entry("REMOVEDUP", Kind::Refused),
    entry("REPLACEDUP", Kind::Refused),
    entry("RESET_DUP", Kind::Refused),
    entry("SETCUR", Kind::Refused),
    entry("SUM", Kind::Refused),
    entry("SUMDUP", Kind::Refused),
];

impl Builder<'_> {
    /// The method or attribute `name`, upper case, of object number `index`; `None` if it has none
    /// of this name and these arguments.
    pub(super) fn method_called(
        &mut self,
        index: usize,
        name: &str,
        arguments: Option<&[MethodArgument]>,
        out: &mut Vec<Operation>,
    ) -> Outcome<Option<Method>> {
        let iterator = matches!(self.objects[index].kind, ObjectKind::Iterator(_));
        for one in METHODS.iter().filter(|one| one.name == name) {
            match (one.kind, arguments) {
                (Kind::Hash(compile), Some(arguments)) if !iterator => {
                    return compile(self, index, arguments, out);
                }
                (Kind::Bare(make), Some([])) | (Kind::Attribute(make), None) if !iterator => {
                    return Ok(Some(make()));
                }
                (Kind::Iterator(make), Some([])) if iterator => return Ok(Some(make())),
                _ => {}
            }
        }
        Ok(None)
    }
}

/// Methods and attributes of hash objects and iterators, for COMPAT.md.
pub fn hash_methods() -> impl Iterator<Item = Word> {
    METHODS.iter().map(|entry| Word {
        name: entry.name,
        support: match entry.kind {
            Kind::Hash(_) | Kind::Bare(_) => Some(Support::all("HASH")),
            Kind::Iterator(_) => Some(Support::all("HITER")),
            Kind::Attribute(_) => Some(Support::all("HASH, attribute")),
            Kind::Refused => None,
        },
    })
}
