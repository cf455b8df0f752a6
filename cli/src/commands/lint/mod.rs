//! `gavel lint`: what is wrong with admission policies, before they are used.

use std::io::{self, Write};

use gavel_libraries::Server;
use gavel_manifest::problem::rule;
use gavel_manifest::{Document, Problem, Severity};
use gavel_policy::api::{GROUP, Resource};
use gavel_policy::typecheck::{Analysis, KindCosts, TypeChecker, Unchecked};
use gavel_policy::validation::Validator;

use crate::args::{LintArgs, Output};
use crate::exit_code::Exit;
use crate::manifests::Manifests;
use crate::progress::Progress;
use crate::report;

mod costs;
mod finding;
mod kinds;
mod types;

use finding::{Object, REGISTRATION, UNCHECKED};

/// Looks at the policies that the arguments name.
pub(crate) fn run(args: &LintArgs) -> io::Result<Exit> {
    let mut manifests = Manifests::new(args.recursive, Progress::new(false));
    let checkers = Checkers::new(args, &mut manifests);
    let checkers = match checkers {
        Ok(checkers) => checkers,
        Err(error) => {
            report::complain(&error);
            return Ok(Exit::Usage);
        }
    };
    let mut out = io::stdout().lock();
    let (mut objects, mut findings) = (0_usize, 0_usize);
    for document in manifests.objects(&args.policies) {
        let Some(object) = Object::of(&document) else {
            continue;
        };
        objects = objects.saturating_add(1);
        let mut found = Vec::new();
        let costs = checkers.lint(&object, &mut found);
        for problem in &found {
            if problem.severity == Severity::Error {
                findings = findings.saturating_add(1);
            }
            finding::print(problem, &object, args.output, &mut out)?;
        }
        if args.cost {
            costs::print(&costs, &object, args.output, &mut out)?;
        }
    }
    out.flush()?;
    if objects == 0 && !manifests.unusable() {
        manifests.complain(
            &"--policies must name objects of admissionregistration.k8s.io, but there are none",
        );
    }
    if args.output == Output::Text {
        let objects = report::count(objects, "object");
        report::summary(&format!(
            "{objects}, {}",
            report::count(findings, "finding")
        ));
    }
    Ok(manifests.exit(findings))
}

/// What objects are held against.
struct Checkers {
    validator: Validator,
    types: TypeChecker,
}

impl Checkers {
    fn new(args: &LintArgs, manifests: &mut Manifests) -> Result<Self, String> {
        let server = Server::new(args.kubernetes_version);
        let mut types = TypeChecker::new(server).map_err(|error| error.to_string())?;
        types.set_max_object(args.max_object);
        for document in manifests.objects(&args.crd) {
            if let Err(message) = kinds::define(&document, &mut types) {
                manifests.refuse(&document, message);
            }
        }
        for path in &args.openapi {
            if let Err(message) = kinds::read(path, &mut types) {
                manifests.complain(&message);
            }
        }
        // What is written anew must be understood by the version before, too.
        let validator = Validator::new(server.compatible()).map_err(|error| error.to_string())?;
        Ok(Checkers { validator, types })
    }

    /// Appends what is found; returns what expressions cost, where there are any that are looked at.
    fn lint(&self, object: &Object<'_>, findings: &mut Vec<Problem>) -> Vec<KindCosts> {
        let document = object.document;
        findings.extend(document.duplicate_keys().iter().cloned());
        let decoded = match Resource::decode(document.value()) {
            Ok(decoded) => decoded,
            Err(error) => {
                findings.push(document.problem(REGISTRATION, "", error.to_string()));
                return Vec::new();
            }
        };
        findings.extend(
            decoded.strict.iter().map(|fault| {
                document.problem(rule::UNKNOWN_FIELD, &fault.field, fault.to_string())
            }),
        );
        let report = self.validator.create(&decoded.object);
        let errors = report.errors.iter();
        findings.extend(errors.map(|error| document.field_problem(error, &error.field)));
        let analysis = match &decoded.object {
            Resource::ValidatingAdmissionPolicy(policy) => self.types.analyze(&**policy),
            Resource::MutatingAdmissionPolicy(policy) => self.types.analyze(&**policy),
            _ => return Vec::new(),
        };
        let Analysis {
            faults,
            costs,
            unchecked,
        } = analysis;
        // What does not compile at all is told once.
        let is_told = |field: &str| report.errors.iter().any(|error| error.field == field);
        let faults = faults.iter().filter(|fault| !is_told(&fault.field));
        findings.extend(types::findings(faults, object));
        findings.extend(costs::findings(&costs, object));
        let unchecked = unchecked.into_iter();
        findings.extend(unchecked.map(|Unchecked { field, reason }| {
            document.problem(UNCHECKED, &field, reason).as_warning()
        }));
        costs
    }
}

impl<'d> Object<'d> {
    /// The object of a document, if it is one of the group.
    fn of(document: &'d Document) -> Option<Self> {
        let text = |pointer| document.value().pointer(pointer)?.as_str();
        let (group, _) = text("/apiVersion")?.split_once('/')?;
        (group == GROUP).then_some(Object {
            document,
            kind: text("/kind").unwrap_or_default(),
            name: text("/metadata/name").unwrap_or_default(),
        })
    }
}
