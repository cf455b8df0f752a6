//! Reads the inputs of `gavel check`.

use gavel_apimachinery::server::no_matches_by_default;
use gavel_check::custom::{Key, KnownDefinitions};
use gavel_check::suite::Suite;
use gavel_check::{Role, Setup};
use gavel_engine::value::Json;
use gavel_manifest::{Document, Problem};
use gavel_policy::api::FieldValidation;
use gavel_state::as_built_in;

use crate::args::CheckArgs;
use crate::manifests::Manifests;

/// The inputs that the arguments name.
pub(super) struct Input {
    pub(super) setup: Setup,
    /// The documents that were added to `setup`; empty without `--explain`.
    pub(super) given: Vec<Document>,
    pub(super) definitions: KnownDefinitions,
    pub(super) objects: Vec<Candidate>,
    pub(super) old: Vec<Document>,
    /// The policies and bindings that the API server does not serve by default.
    pub(super) unserved: Vec<Problem>,
}

/// An object to check.
pub(super) struct Candidate {
    pub(super) document: Document,
    /// Whether the object is of a kind that a policy declares as its `paramKind`. Such an object is checked only if a policy or a definition
    /// applies to it.
    pub(super) is_param: bool,
}

impl Input {
    /// Reads the inputs.
    pub(super) fn read(args: &CheckArgs, manifests: &mut Manifests) -> Result<Self, String> {
        let server = args.kubernetes_version.into();
        let mut input = Input {
            setup: Setup::new(server)?,
            given: Vec::new(),
            definitions: KnownDefinitions::default(),
            objects: Vec::new(),
            old: manifests.strict_objects(&args.old),
            unserved: Vec::new(),
        };
        for document in manifests.objects(&args.all_paths()) {
            input.note_unserved(&document, args);
            let document = as_built_in(document);
            // Test suites are not checked; they are often in the same folder as the policies.
            if Suite::is_suite(document.value()) {
                continue;
            }
            let role = Role::of(document.value());
            let is_passed_over = args.ignore_missing_schemas && Key::of(document.value()).is_err();
            if !is_passed_over && manifests.refuse_misspelled(&document) {
                continue;
            }
            if matches!(role, Role::Surrounding | Role::Object) && !is_passed_over {
                input.objects.push(Candidate {
                    document: document.clone(),
                    is_param: false,
                });
            } else if !is_passed_over {
                manifests.report_all(document.duplicate_keys().to_vec());
            }
            input.take(document, role, args);
        }
        for document in manifests.strict_objects(&[&args.policies[..], &args.crd].concat()) {
            if manifests.refuse_misspelled(&document) {
                continue;
            }
            input.note_unserved(&document, args);
            let document = as_built_in(document);
            let role = Role::of(document.value());
            input.take(document, role, args);
        }
        if !args.crd.is_empty() && input.definitions.is_empty() && !manifests.unusable() {
            manifests.complain("--crd must name a CustomResourceDefinition, but there is none");
        }
        for candidate in &mut input.objects {
            candidate.is_param = input.setup.is_param(candidate.document.value());
        }
        Ok(input)
    }

    /// Notes that the API server does not serve a policy or binding by default.
    fn note_unserved(&mut self, document: &Document, args: &CheckArgs) {
        let text = |key: &str| document.value().get(key).and_then(Json::as_str);
        let version = text("apiVersion").unwrap_or_default();
        let kind = text("kind").unwrap_or_default();
        let message = no_matches_by_default(version, kind, args.kubernetes_version);
        let problem =
            message.map(|message| document.problem("unserved-kind", "apiVersion", message));
        self.unserved.extend(problem);
    }

    fn take(&mut self, document: Document, role: Role, args: &CheckArgs) {
        if role == Role::Definition {
            // Errors are ignored here, because `World::problems` also returns the problems of definitions.
            let server = args.kubernetes_version.into();
            let _ = self
                .definitions
                .add(&document, server, FieldValidation::Strict);
        }
        if args.explain {
            self.given.push(document.clone());
        }
        self.setup.add(document);
    }
}
