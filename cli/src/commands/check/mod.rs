//! `gavel check`: evaluates policies and definitions over manifests.

use std::collections::HashMap;
use std::io::{self, IsTerminal, Write};

use gavel_apimachinery::status::Status;
use gavel_check::custom::{Checked, Key, KnownDefinitions, OldObjects, Taken};
use gavel_check::{
    Action, Operation, Probe, Probed, Ruling, Step, Subject, Trace, World, built_in, custom,
};
use gavel_engine::env::Env;
use gavel_engine::value::Json;
use gavel_libraries::EnvSet;
use gavel_libraries::authorizer::UserInfo;
use gavel_manifest::{Document, Problem};
use gavel_policy::PolicyDecisionEvaluation;
use gavel_policy::api::FieldValidation;

use crate::args::{CheckArgs, OperationName};
use crate::exit_code::Exit;
use crate::findings::{Finding, Format, Report, error_line};
use crate::manifests::Manifests;
use crate::progress::Progress;
use crate::report;

mod explanation;
mod findings;
mod hints;
mod input;
mod json;
mod text;

pub(super) use explanation::write_parts;
use input::{Candidate, Input};

/// Checks the objects that the arguments name.
pub(crate) fn run(args: &CheckArgs) -> io::Result<Exit> {
    write(args, Box::new(anstream::AutoStream::auto(io::stdout())))
}

/// Like [`run`], but prints to `out`.
pub(super) fn write(args: &CheckArgs, out: Box<dyn Write>) -> io::Result<Exit> {
    // Progress is shown for text, and on a terminal.
    let progress = Progress::new(args.output == Format::Text || io::stdout().is_terminal());
    let mut manifests = Manifests::new(args.folders.clone(), progress);
    let mut input = match Input::read(args, &mut manifests) {
        Ok(input) => input,
        Err(error) => {
            report::complain(&error);
            return Ok(Exit::Usage);
        }
    };
    let env = match environment(args) {
        Ok(env) => env,
        Err(error) => {
            report::complain(&error);
            return Ok(Exit::Usage);
        }
    };
    let objects = std::mem::take(&mut input.objects);
    let unbound = input.setup.unbound();
    let unbound =
        unbound.map(|(kind, name)| format!("{kind} {name:?} has no binding: it does nothing"));
    let unbound: Vec<String> = unbound.collect();
    let mut run = CheckRun {
        args,
        out,
        world: input.setup.finish(),
        given: input.given,
        env,
        probes: HashMap::new(),
        definitions: input.definitions,
        old: OldObjects::new(input.old, &args.namespace),
        user: args.requester.user(),
        counts: Counts::default(),
        report: Report::new("gavel check"),
    };
    for problem in input.unserved {
        run.warn(problem);
    }
    for message in &unbound {
        run.warn(Problem::new("unbound-policy", message.as_str()));
    }
    let policies = run.world.policies();
    if run.definitions.is_empty() {
        if policies == 0 && run.world.problems().next().is_none() && !manifests.unusable() {
            manifests.complain_of_nothing(
                "nothing to check with: there must be a policy or a CustomResourceDefinition",
            );
        } else if policies > 0 && policies == unbound.len() {
            manifests.complain("nothing to check with: a policy must have a binding");
        }
    }
    run.report_problems()?;
    manifests.progress().expect(objects.len());
    let mut has_others = false;
    for Candidate { document, is_param } in objects {
        match Key::of(document.value()) {
            Ok(_) => manifests
                .progress()
                .aside(|| run.object(&document, is_param))?,
            Err(message) => {
                has_others |= message.ends_with("must be set");
                manifests.refuse(&document, message);
            }
        }
        manifests.progress().step();
    }
    if run.counts.objects == 0 && !manifests.unusable() {
        manifests.complain(
            "nothing was checked: only policies and what they read were given, and no objects",
        );
    }
    run.report
        .finish(args.output, manifests.problems(), &mut run.out)?;
    run.out.flush()?;
    manifests.progress().end();
    if has_others {
        let note = "--ignore-missing-schemas ignores documents that are not Kubernetes objects, and --exclude leaves out files";
        report::notes(&[note.to_owned()]);
    }
    // If nothing was checked, an error was printed instead of the summary.
    if args.output == Format::Text && run.counts.objects > 0 {
        report::summary(&run.counts.to_string());
    }
    let wrong = run.counts.denied.saturating_add(run.counts.invalid);
    Ok(manifests.exit(wrong))
}

/// The environment of stored expressions; `None` without `--explain`.
fn environment(args: &CheckArgs) -> Result<Option<Env>, String> {
    if !args.explain {
        return Ok(None);
    }
    let set = EnvSet::new(args.kubernetes_version.into()).map_err(|error| error.to_string())?;
    Ok(Some(set.stored_expressions().clone()))
}

/// One run of the command.
struct CheckRun<'a> {
    args: &'a CheckArgs,
    out: Box<dyn Write>,
    world: World,
    given: Vec<Document>,
    /// The environment of stored expressions; `None` without `--explain`.
    env: Option<Env>,
    /// The probes that evaluate the sub-expressions of validations, by policy name; `None` if no validating policy has this name.
    probes: HashMap<String, Option<Probe>>,
    definitions: KnownDefinitions,
    old: OldObjects,
    user: UserInfo,
    counts: Counts,
    /// The findings, collected for the output formats that are written at the end.
    report: Report,
}

/// The counts of the run.
#[derive(Debug, Default)]
struct Counts {
    objects: usize,
    denied: usize,
    warned: usize,
    audited: usize,
    /// The number of admitted objects for which no policy was evaluated and whose kind has no definition.
    unexamined: usize,
    /// The number of problems for which an API server would reject policies and definitions.
    invalid: usize,
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Counts {
            objects,
            denied,
            warned,
            audited,
            unexamined,
            invalid,
        } = self;
        let objects = report::count(*objects, "object");
        write!(
            f,
            "{objects}: {denied} denied, {warned} warned, {audited} audited"
        )?;
        if *unexamined > 0 {
            write!(f, ", {unexamined} without a matching policy or definition")?;
        }
        if *invalid > 0 {
            write!(f, "; {}", report::count(*invalid, "problem"))?;
            f.write_str(" with policies and definitions")?;
        }
        Ok(())
    }
}

/// The outcome for one object.
struct Found {
    operation: Operation,
    ruling: Ruling,
    /// The result of validating the object by its definition or, for a built-in kind, of decoding it.
    checked: Checked,
    steps: Vec<Step>,
    /// The values of sub-expressions, for policies with a failed validation; empty without `--explain`.
    probed: Vec<Probed>,
}

impl Found {
    fn is_denied(&self) -> bool {
        self.ruling.status.is_some() || !self.checked.is_valid()
    }

    /// The status of an object that is denied although no finding denies it: a mutating policy failed, or the object's namespace is
    /// missing. Otherwise `None`.
    fn unexplained(&self) -> Option<&Status> {
        let findings = &self.ruling.findings;
        let is_explained = findings
            .iter()
            .any(|finding| finding.action == Action::Deny);
        self.ruling.status.as_ref().filter(|_| !is_explained)
    }
}

impl CheckRun<'_> {
    /// Reports the policies and definitions that an API server would reject.
    fn report_problems(&mut self) -> io::Result<()> {
        self.counts.invalid = self.world.problems().count();
        for problem in self.world.problems() {
            match self.args.output {
                Format::Text => {
                    let line = problem.to_string();
                    writeln!(self.out, "{}", report::visible(&line))?;
                }
                Format::Json => writeln!(self.out, "{}", error_line(problem))?,
                _ => findings::add_problem(&mut self.report, problem),
            }
        }
        let unseen: Vec<String> = self.world.unseen().map(ToString::to_string).collect();
        for message in &unseen {
            self.warn(Problem::new("missing-object", message.as_str()));
        }
        Ok(())
    }

    /// Prints a warning to standard error, or adds it to the report, if the output format has findings.
    fn warn(&mut self, problem: Problem) {
        match self.args.output {
            Format::Text | Format::Json => report::warning(&problem),
            Format::Sarif | Format::Junit | Format::Github => {
                self.report.add(Finding::of(&problem.as_warning()));
            }
        }
    }

    /// Checks an object and prints the findings. A param that no policy matches and that has no definition is only read by policies: it is
    /// neither printed nor counted.
    fn object(&mut self, document: &Document, is_param: bool) -> io::Result<()> {
        if let Some(problem) = self.world.unknown_kind(document) {
            self.warn(problem);
        }
        let found = self.check(document);
        let found = match found {
            Ok(found) => found,
            Err(message) => return Err(io::Error::other(message)),
        };
        let ruling = &found.ruling;
        if is_param && !ruling.is_examined && !ruling.is_skipped && !found.is_denied() {
            return Ok(());
        }
        self.counts.add(&found);
        match self.args.output {
            Format::Json => {
                let line = json::of(document, &found, self.args.explain);
                writeln!(self.out, "{line}")
            }
            Format::Text => {
                let is_admitted = text::write(&mut self.out, document, &found)?;
                if !self.args.explain {
                    return Ok(());
                }
                if is_admitted {
                    text::write_admitted(&mut self.out, document)?;
                }
                explanation::write(&mut self.out, &found)
            }
            Format::Sarif | Format::Junit | Format::Github => {
                findings::add(&mut self.report, document, &found);
                Ok(())
            }
        }
    }

    fn check(&mut self, document: &Document) -> Result<Found, String> {
        let key = Key::of(document.value())?;
        let namespace = &self.args.namespace;
        let old = self.old.find(&key);
        let operation = match (self.args.operation, old) {
            (Some(OperationName::Create), _) | (None, None) => Operation::Create,
            (Some(OperationName::Update), _) | (None, Some(_)) => Operation::Update,
            (Some(OperationName::Delete), _) => Operation::Delete,
        };
        let subject = Subject {
            operation,
            object: document.value(),
            old: old.map(Document::value),
            namespace,
            user: &self.user,
        };
        let trace = Trace::new(report::written);
        let request = self.world.request(&subject);
        let ruling = self.world.decide(&request, &trace)?;
        let definition = self.definitions.find(&key);
        let definition = definition.filter(|_| operation != Operation::Delete);
        let mut found = Found {
            operation,
            ruling,
            checked: Checked {
                problems: document.duplicate_keys().to_vec(),
                ..Checked::default()
            },
            steps: trace.into_steps(),
            probed: Vec::new(),
        };
        if operation != Operation::Delete {
            let server = self.args.kubernetes_version.into();
            built_in::check(document, server, &mut found.checked);
        }
        if let Some(definition) = definition {
            let taken = Taken {
                namespace,
                strictness: FieldValidation::Strict,
                is_status: false,
                records_rules: false,
            };
            let old = old.or((operation == Operation::Update).then_some(document));
            found.checked = match &found.ruling.mutated {
                Some(mutated) => {
                    let mutated = document.clone().with_value(mutated.clone());
                    custom::check(&mutated, old, &key, definition, taken)
                }
                None => custom::check(document, old, &key, definition, taken),
            };
            found.ruling.is_examined = true;
        }
        if let Some(env) = &self.env {
            hints::add(&mut found.steps, &request, env);
            found.probed = probed(
                &mut self.probes,
                &self.given,
                self.args,
                &request,
                &found.steps,
            )?;
        }
        Ok(found)
    }
}

/// Evaluates the sub-expressions of each policy that has a failed validation.
fn probed(
    probes: &mut HashMap<String, Option<Probe>>,
    given: &[Document],
    args: &CheckArgs,
    request: &Json,
    steps: &[Step],
) -> Result<Vec<Probed>, String> {
    let mut policies: Vec<&str> = Vec::new();
    for step in steps {
        if let Step::Evaluated {
            invocation,
            evaluation,
        } = step
            && evaluation
                .decisions
                .iter()
                .any(|decision| decision.evaluation != PolicyDecisionEvaluation::Admit)
            && !policies.contains(&invocation.policy.as_str())
        {
            policies.push(&invocation.policy);
        }
    }
    let mut found = Vec::new();
    for policy in policies {
        if !probes.contains_key(policy) {
            let server = args.kubernetes_version.into();
            let probe = Probe::new(server, given, policy)?;
            probes.insert(policy.to_owned(), probe);
        }
        if let Some(Some(probe)) = probes.get(policy) {
            found.extend(probe.evaluate(request, report::written)?);
        }
    }
    Ok(found)
}

impl Counts {
    fn add(&mut self, found: &Found) {
        let add = |count: &mut usize, whether: bool| {
            *count = count.saturating_add(usize::from(whether));
        };
        let findings = &found.ruling.findings;
        let has = |action| findings.iter().any(|finding| finding.action == action);
        add(&mut self.objects, true);
        add(&mut self.denied, found.is_denied());
        let is_warned = has(Action::Warn) || !found.checked.warnings.is_empty();
        add(&mut self.warned, is_warned);
        add(&mut self.audited, has(Action::Audit));
        add(
            &mut self.unexamined,
            !found.ruling.is_examined && !found.is_denied(),
        );
    }
}

#[cfg(test)]
mod tests;
