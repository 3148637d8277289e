//! PROC LOGISTIC and PROC HPLOGISTIC: one pass over the input puts the model's variables into
//! [`Observations`], which every iteration reads; OUTPUT reads the input once more, a BY group behind.

mod binary;
mod estimates;
mod fit;
mod likelihood;
mod listing;
mod output;
mod selection;
mod share;
mod statements;

use engine::dataset::input::{Field, Input};
use engine::dataset::runs::{self, Work};
use engine::expr::Slot;
use engine::failure::{Failure, Outcome};
use engine::procedure::{Procedure, Support};
use engine::session::World;
use lang::ast::{ProcStep, VariableList};
use sas7bdat::{Encoding, Rows};

use self::estimates::Estimates;
use self::fit::{Fitted, Test};
use self::likelihood::{LANES, Problem};
use self::output::Outputs;
use self::selection::{Chosen, Step, select};
use self::share::{Counts, Group, Share};
use self::statements::{Method, Model, Statements, parse};
use crate::by::{ByGroups, of_group_only, open_by};
use crate::effects::classes::{self, ClassData, Coding, Ordered, out_of_memory};
use crate::effects::design::{Design, EffectColumns};
use crate::effects::{Effect, Effects};
use crate::linear::dot;
use crate::observations::Observations;
use crate::target::{named_fields, numeric};

/// PROC LOGISTIC or PROC HPLOGISTIC.
pub(crate) struct Logistic(pub(crate) &'static str);

impl Procedure for Logistic {
    fn name(&self) -> &'static str {
        self.0
    }

    fn support(&self) -> Support {
        if self.0 == "HPLOGISTIC" {
            return Support {
                yes: "as LOGISTIC, with GLM coding; SELECTION METHOD=FORWARD, BACKWARD or STEPWISE by \
                  significance (SLENTRY=, SLSTAY=); ID, OUTPUT with PRED= and XBETA=; PERFORMANCE \
                  NTHREADS=, DETAILS (without its table of times); CPUCOUNT threads, on which results \
                  do not depend",
                no: "PARTITION, CODE, other criteria of SELECTION, PARAM=, LINK=",
            };
        }
        Support {
            yes: "FORMAT, LABEL; CLASS with PARAM=EFFECT (the default), REF, GLM, REF=, DESCENDING, \
                  ORDER=FORMATTED or INTERNAL; MODEL of a binary or ordinal response (EVENT=, \
                  DESCENDING, REF=) with effects as in GLM, SELECTION=FORWARD, BACKWARD or STEPWISE, \
                  SLENTRY=, SLSTAY=, NOINT, CLPARM=WALD, MAXITER=, GCONV=, ALPHA=; OUTEST=; OUTPUT \
                  with P= XBETA= STDXBETA= LOWER= UPPER=; BY, WEIGHT, FREQ, WHERE. The model's \
                  variables go into a utility file, which iterations read where half of MEMSIZE does \
                  not hold them",
            no: "events/trials, LINK= but LOGIT, SCORE, ODDSRATIO, CONTRAST, TEST, UNITS, EXACT, \
                  STRATA, LACKFIT, CTABLE, OUTROC=, RSQUARE, CLODDS=, PREDPROBS=, OUTEST= with both BY \
                  and CLASS or of BY groups with different responses, NOINT of an ordinal response",
        }
    }

    fn check(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        let statements = parse(self.0, step, world)?;
        self.model(&statements, step).map(drop)
    }

    fn run(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        let statements = parse(self.0, step, world)?;
        let model = self.model(&statements, step)?;
        let mut input = open(&statements, world)?;
        let mut bound = Bound::new(self.0, &statements, model, &input, world)?;
        let mut by = match &statements.by {
            Some(list) => Some(ByGroups::new(&input, list, &statements.attributes, world)?),
            None => None,
        };
        let mut outputs = Outputs::create(&bound, &input, world)?;
        let mut estimates = Estimates::default();
        if statements.printed {
            world.listing.begin();
        }
        let done = bound.pass(&mut input, by.as_mut(), &mut outputs, &mut estimates, world);
        if statements.printed {
            world.listing.end();
        }
        if let Err(failure) = done {
            outputs.discard(world);
            estimates.discard(world);
            return Err(failure);
        }
        input.finish(world)?;
        estimates.finish(world)?;
        outputs.finish(world)
    }
}

impl Logistic {
    fn model<'a>(&self, statements: &'a Statements, step: &ProcStep) -> Outcome<&'a Model> {
        statements.model.as_ref().ok_or_else(|| {
            let message = format!("PROC {} needs a MODEL statement", self.0);
            Failure::at(&step.span, message)
        })
    }
}

fn open(statements: &Statements, world: &mut World) -> Outcome<Input> {
    open_by(
        world,
        &statements.data,
        statements.condition.as_ref(),
        statements.by.as_ref(),
    )
}

/// The statements with their variables found.
struct Bound<'a> {
    /// LOGISTIC or HPLOGISTIC.
    name: &'static str,
    statements: &'a Statements,
    model: &'a Model,
    response: ClassData,
    response_field: Field,
    classes: ClassData,
    class_fields: Vec<Field>,
    effects: Effects,
    weight: Option<Slot>,
    freq: Option<Slot>,
    threads: usize,
    limit: u64,
    encoding: Encoding,
}

/// What the analysis of a BY group gave.
struct Analysis {
    /// Responses, the event of a binary model first.
    responses: Ordered,
    classes: Vec<Ordered>,
    design: Design,
    intercepts: usize,
    rows: u64,
    read: f64,
    used: f64,
    weight: f64,
    /// Frequency and weight of the responses in order.
    profile: Vec<(f64, f64)>,
    /// Effects in the model.
    active: Vec<bool>,
    fitted: Fitted,
    /// Log likelihood of the model without effects.
    null: f64,
    score: Test,
    steps: Vec<Step>,
    odds_test: Option<Test>,
    bins: Vec<f64>,
}

/// A row's numbers.
#[derive(Default)]
struct Values {
    code: Vec<u32>,
    codes: Vec<u32>,
    covariates: Vec<f64>,
}

impl<'a> Bound<'a> {
    fn new(
        name: &'static str,
        statements: &'a Statements,
        model: &'a Model,
        input: &Input,
        world: &mut World,
    ) -> Outcome<Self> {
        let limit = world.options.procedure_memory();
        let single = |list: &Option<VariableList>| match list {
            Some(list) => numeric(input, std::slice::from_ref(list))
                .map(|fields| fields.first().map(|field| field.slot)),
            None => Ok(None),
        };
        let mut response = named_fields(input, std::slice::from_ref(&model.response))?;
        let mut class_fields = Vec::new();
        let mut options = Vec::new();
        for (list, own) in &statements.classes.items {
            let fields = named_fields(input, std::slice::from_ref(list))?;
            options.extend(fields.iter().map(|_| own.clone()));
            class_fields.extend(fields);
        }
        statements.attributes.apply(input, &mut response, world)?;
        statements
            .attributes
            .apply(input, &mut class_fields, world)?;
        let [response_field] = response.as_slice() else {
            return Err(Failure::at(
                &model.span,
                "The model has one response variable",
            ));
        };
        let effects = Effects::new(&model.effects, &class_fields, input)?;
        let of = class_fields.iter().cloned().zip(options).collect();
        let threads = statements.threads.map_or(world.threads(), |threads| {
            usize::try_from(threads).unwrap_or(usize::MAX)
        });
        let response = vec![(response_field.clone(), model.options.clone())];
        Ok(Self {
            name,
            statements,
            model,
            response: ClassData::new(response, &world.formats, limit / 16),
            response_field: response_field.clone(),
            classes: ClassData::new(of, &world.formats, limit / 8),
            class_fields,
            effects,
            weight: single(&statements.weight)?,
            freq: single(&statements.freq)?,
            threads: if name == "HPLOGISTIC" { threads } else { 1 },
            limit,
            encoding: input.metadata().encoding,
        })
    }

    fn pass(
        &mut self,
        input: &mut Input,
        by: Option<&mut ByGroups>,
        outputs: &mut Outputs,
        estimates: &mut Estimates,
        world: &mut World,
    ) -> Outcome<()> {
        let mut group = self.group(world)?;
        let head = self.head();
        let Some(by) = by else {
            let work = Work {
                begin: || self.share(),
                take: |share: &mut Share, rows: Rows<'_>| {
                    rows.iter().try_for_each(|row| self.take(share, row))
                },
            };
            let threads = runs::threads(input, self.threads, self.run_bytes(), self.limit / 4);
            runs::each_run(input, threads, &work, |share| {
                group.join(share, head, world)
            })?;
            return self.end(group, None, outputs, estimates, world);
        };
        let mut share = self.share();
        while let Some(row) = input.next_row()? {
            if by.begins(row)? {
                if !by.row().is_empty() {
                    let last = std::mem::replace(&mut share, self.share());
                    let mut full = std::mem::replace(&mut group, self.group(world)?);
                    full.join(last, head, world)?;
                    self.end(full, Some(by), outputs, estimates, world)?;
                }
                by.enter(row);
            }
            self.take(&mut share, row)?;
            if share.is_full() {
                group.join(std::mem::replace(&mut share, self.share()), head, world)?;
            }
        }
        if by.row().is_empty() {
            return Ok(());
        }
        group.join(share, head, world)?;
        self.end(group, Some(by), outputs, estimates, world)
    }

    /// Bytes of what a thread makes of a run.
    fn run_bytes(&self) -> u64 {
        (runs::RUN_ROWS * self.width() * size_of::<f64>()) as u64
    }

    fn end(
        &mut self,
        group: Group,
        by: Option<&ByGroups>,
        outputs: &mut Outputs,
        estimates: &mut Estimates,
        world: &mut World,
    ) -> Outcome<()> {
        let Group {
            observations,
            counts,
            response,
            classes,
        } = group;
        (self.response, self.classes) = (response, classes);
        let levels = match self.levels(&counts) {
            Ok(levels) => levels,
            Err(failure) => {
                of_group_only(failure, by, world)?;
                observations.remove(world)?;
                return outputs.unfitted(counts.rows);
            }
        };
        let analysis = self.analyse(&observations, &counts, levels)?;
        observations.remove(world)?;
        listing::notes(world, self, &analysis);
        if self.statements.printed {
            listing::group(world, self, &analysis, by);
        }
        estimates.write(self, &analysis, by, world)?;
        outputs.group(self, &analysis)
    }

    /// The responses in order.
    fn responses(&self) -> Outcome<Ordered> {
        let mut list = self
            .response
            .ordered(Coding::Effect, self.encoding)
            .map_err(Failure::world)?;
        let mut responses = list.remove(0);
        let count = responses.labels.len();
        if count < 2 {
            let message = "All observations have the same response. No statistics are computed.";
            return Err(Failure::world(message));
        }
        if count == 2 {
            let event = match &self.model.event {
                Some(classes::Chosen::First) => Some(0),
                Some(classes::Chosen::Last) => Some(1),
                Some(classes::Chosen::Value(value)) => {
                    let known = responses
                        .labels
                        .iter()
                        .position(|label| label == value.trim());
                    Some(known.ok_or_else(|| {
                        let message = format!("The EVENT= value {value} is not a response");
                        Failure::at(&self.model.span, message)
                    })?)
                }
                None => self
                    .model
                    .options
                    .reference
                    .is_some()
                    .then_some(1 - responses.reference),
            };
            if event == Some(1) {
                responses.labels.swap(0, 1);
                responses.keys.swap(0, 1);
                responses.codes.swap(0, 1);
            }
        }
        Ok(responses)
    }

    /// The columns of the model, and how many of them are intercepts.
    fn design(&self, classes: &[Ordered], responses: usize) -> Outcome<(Design, usize)> {
        if responses > 2 && !self.model.intercept {
            let message = "NOINT with more than two responses is not implemented yet";
            return Err(Failure::at(&self.model.span, message));
        }
        let intercepts = if self.model.intercept {
            responses - 1
        } else {
            0
        };
        let effects = &self.effects.effects;
        let design = Design::new(effects, classes, intercepts, None, self.limit / 8)?;
        let combinations = design.effects.iter().map(EffectColumns::combinations);
        let columns = (intercepts + combinations.sum::<usize>()) as u64;
        if columns * columns * 8 * (LANES as u64 + 8) > self.limit / 4 {
            return Err(out_of_memory(design.columns, "parameters", self.limit));
        }
        Ok((design, intercepts))
    }

    /// The levels of the response and the class variables; it depends on the rows whether they will do.
    fn levels(&self, counts: &Counts) -> Outcome<(Ordered, Vec<Ordered>)> {
        if counts.used == 0.0 {
            let message = "No valid observations due to at least one missing value.";
            return Err(Failure::world(message));
        }
        let responses = self.responses()?;
        let coding = if self.is_high() {
            Coding::Glm
        } else {
            Coding::Effect
        };
        let classes = self.classes.ordered(coding, self.encoding);
        Ok((responses, classes.map_err(Failure::world)?))
    }

    fn is_high(&self) -> bool {
        self.name == "HPLOGISTIC"
    }

    fn analyse(
        &self,
        observations: &Observations,
        counts: &Counts,
        (responses, classes): (Ordered, Vec<Ordered>),
    ) -> Outcome<Analysis> {
        let count = responses.labels.len();
        let (design, intercepts) = self.design(&classes, count)?;
        let mut places = vec![0; count];
        for (place, code) in responses.codes.iter().enumerate() {
            places[*code] = place;
        }
        let problem = Problem {
            observations,
            design: &design,
            places,
            responses: count,
            intercepts,
            covariates: self.effects.covariates.len(),
            head: self.head(),
            threads: self.threads,
        };
        let of = |code: &usize| counts.profile[*code];
        let profile: Vec<(f64, f64)> = responses.codes.iter().map(of).collect();
        let start = start(&profile, design.columns, intercepts);
        let all = vec![true; design.effects.len()];
        let first = problem.sums(&start, &all, false)?;
        let Chosen {
            active,
            fitted,
            steps,
        } = select(self, &problem, start, &first)?;
        let slopes: Vec<usize> = problem.columns(&active).split_off(intercepts);
        let cuts: Vec<usize> = (0..intercepts).collect();
        let score = fit::score(&first, design.columns, &cuts, &slopes);
        let wanted = self.statements.printed && !slopes.is_empty();
        let bins = if wanted && !self.is_high() {
            problem.sums(&fitted.beta, &active, true)?.bins
        } else {
            Vec::new()
        };
        let odds_test = if count > 2 && wanted {
            Some(odds_test(&problem, &fitted, &active, &slopes)?)
        } else {
            None
        };
        Ok(Analysis {
            null: first.likelihood,
            responses,
            classes,
            intercepts,
            rows: counts.rows,
            read: counts.read,
            used: counts.used,
            weight: counts.weight,
            profile,
            active,
            fitted,
            steps,
            score,
            odds_test,
            bins,
            design,
        })
    }
}

/// The intercepts that fit without effects.
fn start(profile: &[(f64, f64)], columns: usize, intercepts: usize) -> Vec<f64> {
    let mut start = vec![0.0; columns];
    let total: f64 = profile.iter().map(|(_, weight)| weight).sum();
    let mut below = 0.0;
    for (cut, (_, weight)) in profile.iter().take(intercepts).enumerate() {
        below += weight;
        start[cut] = (below / (total - below)).ln();
    }
    start
}

/// Score test of equal slopes.
fn odds_test(
    problem: &Problem<'_>,
    fitted: &Fitted,
    active: &[bool],
    slopes: &[usize],
) -> Outcome<Test> {
    let free: Vec<usize> = slopes
        .iter()
        .copied()
        .filter(|column| fitted.free[*column])
        .collect();
    let (gradient, information) = problem.unequal(&fitted.beta, active, slopes)?;
    let size = gradient.len();
    let own = slopes.len() + 1;
    let columns: Vec<usize> = (0..size)
        .filter(|index| index % own == 0 || free.contains(&slopes[index % own - 1]))
        .collect();
    let (inverse, _) = fit::invert(&information, size, &columns);
    Ok(Test {
        square: dot(&fit::times(&inverse, &gradient), &gradient),
        degrees: (free.len() * (problem.responses - 2)) as f64,
    })
}

impl Analysis {
    /// Effects in the model with their columns.
    fn effects<'a>(&'a self, bound: &'a Bound<'_>) -> impl Iterator<Item = (usize, &'a Effect)> {
        let effects = bound.effects.effects.iter().enumerate();
        effects.filter(|(index, _)| self.active[*index])
    }

    /// Names of the parameters of an effect, and their levels.
    fn parameters(&self, bound: &Bound<'_>, index: usize) -> Vec<(String, String)> {
        let effect = &bound.effects.effects[index];
        let of = |places: &Vec<usize>| {
            let label =
                |(class, place): (&usize, &usize)| self.classes[*class].labels[*place].clone();
            let labels: Vec<String> = effect.classes.iter().zip(places).map(label).collect();
            (effect.name.clone(), labels.join(" "))
        };
        self.design.effects[index].levels.iter().map(of).collect()
    }

    fn parameters_free(&self) -> f64 {
        self.fitted.free.iter().filter(|free| **free).count() as f64
    }
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Forward => "Forward",
            Self::Backward => "Backward",
            Self::Stepwise => "Stepwise",
        }
    }
}
