//! Effects of models: classes and covariates, crossed and nested, and the columns they make. GLM,
//! LOGISTIC and HPLOGISTIC build their models from these.

pub(crate) mod classes;
pub(crate) mod design;
pub(crate) mod estimable;
pub(crate) mod written;

use engine::dataset::input::{Field, Input};
use engine::failure::{Failure, Outcome};
use sas7bdat::Kind;

use self::written::{Term, Written};

/// An effect whose variables are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Effect {
    /// As listings name it: `a*b`, `c(a)`.
    pub(crate) name: String,
    /// Class variables by number: those it is nested in, then the crossed ones.
    pub(crate) classes: Vec<usize>,
    /// How many of the classes it is nested in.
    pub(crate) nested: usize,
    /// Covariates by number, each as often as it is a factor.
    pub(crate) covariates: Vec<usize>,
}

/// The effects of a model.
pub(crate) struct Effects {
    pub(crate) effects: Vec<Effect>,
    /// Covariates in the order in which they are met.
    pub(crate) covariates: Vec<Field>,
}

impl Effects {
    /// Finds the variables of `written`; `classes` are those of the CLASS statement.
    pub(crate) fn new(written: &[Written], classes: &[Field], input: &Input) -> Outcome<Self> {
        let mut effects = Self {
            effects: Vec::new(),
            covariates: Vec::new(),
        };
        for one in written {
            for term in one.terms(input)? {
                let effect = effects
                    .bind(&term, classes, input)
                    .map_err(|message| Failure::at(one.span(), message))?;
                if !effects.effects.contains(&effect) {
                    effects.effects.push(effect);
                }
            }
        }
        Ok(effects)
    }

    /// One effect that the model may or may not have: of classes only.
    pub(crate) fn of_classes(
        term: &Term,
        classes: &[Field],
        input: &Input,
    ) -> Result<Effect, String> {
        let mut none = Self {
            effects: Vec::new(),
            covariates: Vec::new(),
        };
        let effect = none.bind(term, classes, input)?;
        if none.covariates.is_empty() {
            Ok(effect)
        } else {
            let name = &none.covariates[0].variable.name;
            Err(format!("Variable {name} is not in the CLASS statement"))
        }
    }

    fn bind(&mut self, term: &Term, classes: &[Field], input: &Input) -> Result<Effect, String> {
        let class_of = |place: &usize| {
            let slot = input.fields()[*place].slot;
            classes.iter().position(|class| class.slot == slot)
        };
        let name_of = |place: &usize| input.fields()[*place].variable.name.clone();
        let mut nested = Vec::new();
        for place in &term.nested {
            nested.push(class_of(place).ok_or_else(|| {
                format!(
                    "Effects are nested in classes, but {} is none",
                    name_of(place)
                )
            })?);
        }
        nested.sort_unstable();
        nested.dedup();
        let (mut crossed, mut covariates, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for place in &term.factors {
            if let Some(class) = class_of(place) {
                if !crossed.contains(&class) {
                    crossed.push(class);
                    names.push(name_of(place));
                }
            } else {
                covariates.push(self.covariate(&input.fields()[*place])?);
                names.push(name_of(place));
            }
        }
        crossed.sort_unstable();
        covariates.sort_unstable();
        if covariates.is_empty() {
            names = crossed
                .iter()
                .map(|class| classes[*class].variable.name.clone())
                .collect();
        }
        let mut name = names.join("*");
        if !nested.is_empty() {
            let within: Vec<&str> = nested
                .iter()
                .map(|class| classes[*class].variable.name.as_str())
                .collect();
            name = format!("{name}({})", within.join("*"));
        }
        Ok(Effect {
            name,
            nested: nested.len(),
            classes: [nested, crossed].concat(),
            covariates,
        })
    }

    fn covariate(&mut self, field: &Field) -> Result<usize, String> {
        if field.variable.kind == Kind::Character {
            return Err(format!(
                "Variable {} should be either numeric or specified in the CLASS statement",
                field.variable.name
            ));
        }
        let known = self
            .covariates
            .iter()
            .position(|one| one.slot == field.slot);
        Ok(known.unwrap_or_else(|| {
            self.covariates.push(field.clone());
            self.covariates.len() - 1
        }))
    }
}

impl Effect {
    /// True if `self` is contained in `other`: the same covariates, and all its classes and more.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        self.covariates == other.covariates
            && other.classes.len() > self.classes.len()
            && self
                .classes
                .iter()
                .all(|class| other.classes.contains(class))
    }
}
