//! The state of a linter.

use gavel_crd::rule::RuleEnvs;
use gavel_engine::env::Env;
use gavel_engine::types::TypeTextError;
use gavel_engine::value::Json;
use gavel_libraries::{EnvSet, Server};
use gavel_manifest::Document;
use gavel_policy::validation::Validator;
use gavel_schema::cel::MAX_REQUEST_SIZE;

use crate::kinds::Kinds;

/// The options of a linter.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The API server to which the documents will be applied.
    pub server: Server,
    /// The assumed size limit of an object in bytes, with which the costs of policies are computed.
    pub max_object: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            server: Server::default(),
            max_object: MAX_REQUEST_SIZE,
        }
    }
}

/// Finds problems in documents.
///
/// ```
/// use gavel_lint::{Linter, Options};
/// use gavel_manifest::{Format, read};
///
/// let manifest = "
/// apiVersion: admissionregistration.k8s.io/v1
/// kind: ValidatingAdmissionPolicy
/// metadata: {name: replicas}
/// spec:
///   matchConstraints:
///     resourceRules:
///     - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
///   validations:
///   - expression: object.spec.replica <= 5
/// ";
/// let documents = read(manifest, Format::Yaml).all()?;
/// let linter = Linter::new(&Options::default(), &documents)?;
/// let problems = linter.document(&documents[0]);
/// assert_eq!(problems[0].rule, "undefined-field");
/// assert_eq!(problems[0].range.map(|range| (range.start.line, range.start.column)), Some((10, 28)));
/// assert_eq!(problems[0].help(), "did you mean `replicas`?");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Linter {
    pub(crate) server: Server,
    pub(crate) kinds: Kinds,
    /// Validates new objects. The previous Kubernetes version must accept their expressions too.
    pub(crate) validator: Validator,
    pub(crate) rules: RuleEnvs,
    /// The environment of stored expressions.
    pub(crate) stored: Env,
    /// The environment of new expressions.
    pub(crate) new: Env,
}

impl Linter {
    /// A linter that knows the kinds of the definitions among the documents.
    ///
    /// # Errors
    ///
    /// A table of functions is malformed.
    pub fn new(options: &Options, documents: &[Document]) -> Result<Self, TypeTextError> {
        let server = options.server;
        let set = EnvSet::new(server)?;
        let compatible = EnvSet::new(server.compatible())?;
        Ok(Linter {
            server,
            kinds: Kinds::new(server, options.max_object, documents)?,
            validator: Validator::new(server.compatible())?
                .of_a_running_server()
                .accepting_static_names(),
            rules: RuleEnvs::new(server.compatible())?,
            stored: set.stored_expressions().clone(),
            new: compatible.new_expressions().clone(),
        })
    }

    /// Adds the kinds of an OpenAPI v3 document, as `kubectl get --raw /openapi/v3/apis/apps/v1` prints it.
    ///
    /// # Errors
    ///
    /// The JSON is not such a document, or a schema cannot be resolved.
    pub fn add_openapi(&mut self, document: &Json) -> Result<(), String> {
        self.kinds.add_openapi(document)
    }
}

impl Linter {
    /// The first later Kubernetes version that reports no error in this field of a new object; `None` if every later version reports one.
    pub(crate) fn first_version_without(
        &self,
        object: &gavel_policy::api::Resource,
        field: &str,
    ) -> Option<gavel_libraries::KubeVersion> {
        use gavel_libraries::KubeVersion;
        let now = self.server.language();
        let later = (now.minor.saturating_add(1)..=KubeVersion::NEWEST.minor).map(KubeVersion::v1);
        later.into_iter().find(|version| {
            let server = Server::new(*version);
            let validator = Validator::new(server.compatible());
            validator.is_ok_and(|validator| {
                let report = validator.create(object, None);
                !report.errors.iter().any(|error| error.field == field)
            })
        })
    }
}
