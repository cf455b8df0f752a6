//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use gavel_apimachinery::json;
use gavel_apimachinery::quantity::Quantity;
use gavel_engine::types::Type;
use gavel_engine::value::Json;
use gavel_libraries::KubeVersion;
use gavel_policy::cel::PER_CALL_LIMIT;
use gavel_protocol::kubernetes_version;

mod about;
mod audit;
mod check;
mod cost;
mod lint;
mod mutate;
mod serve;
mod test;
mod upgrade_check;

pub(crate) use about::{CompletionsArgs, ManArgs, VersionArgs};
pub(crate) use audit::{AuditArgs, AuditOutput};
pub(crate) use check::{CheckArgs, OperationName};
pub(crate) use cost::CostArgs;
pub(crate) use lint::{ExplainArgs, ExplainOutput, LintArgs, kubernetes_versions};
pub(crate) use mutate::{MutateArgs, MutateOutput};
pub(crate) use serve::{AuthorizerMode, LogFormat, ServeArgs};
pub(crate) use test::TestArgs;
pub(crate) use upgrade_check::UpgradeCheckArgs;

/// CEL exactly as Kubernetes evaluates it.
#[derive(Debug, Parser)]
#[command(name = "gavel", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Evaluate admission policies over the existing objects of a cluster, or over manifests
    Audit(Box<AuditArgs>),
    /// Evaluate policies and definitions over manifests, without a cluster
    Check(Box<CheckArgs>),
    /// Evaluate an expression
    Eval(Box<EvalArgs>),
    /// List the functions that expressions may use
    Functions(FunctionsArgs),
    /// Find mistakes in policies, definitions and other objects with expressions, without a cluster
    Lint(Box<LintArgs>),
    /// Show what rules and expressions cost, and which bounds bring costs down
    Cost(CostArgs),
    /// Explain a rule of gavel lint
    Explain(ExplainArgs),
    /// Apply mutating admission policies to manifests and print the results, without a cluster
    Mutate(MutateArgs),
    /// Rehearse an upgrade: what another version of Kubernetes compiles, costs, decides or words differently
    UpgradeCheck(UpgradeCheckArgs),
    /// Run the tests of policies
    Test(TestArgs),
    /// Validate custom resources as an API server does, without a cluster
    Validate(ValidateArgs),
    /// Answer JSON requests, one a line, from standard input
    ///
    /// Reads one request a line and writes one answer a line, in order, until standard input ends.
    /// For example: {"id": 1, "op": "eval", "expr": "x + 1", "vars": {"x": "int"}, "bindings": {"x": 1}}
    Batch,
    /// Run the admission webhook: answer the AdmissionReviews of an API server
    Serve(Box<ServeArgs>),
    /// Print the version of gavel and the versions of Kubernetes that it knows
    Version(VersionArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print the man page, or write those of all commands
    Man(ManArgs),
}

/// The exit status is 0 where the expression has a value, 1 where it does not compile or fails, and 2 where the command
/// line or an input is wrong.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EvalArgs {
    /// The expression; - reads it from standard input
    #[arg(required_unless_present = "file", allow_negative_numbers = true)]
    pub(crate) expr: Option<String>,

    /// Read the expression from a file
    #[arg(short, long, value_name = "FILE", conflicts_with = "expr")]
    pub(crate) file: Option<PathBuf>,

    /// Declare a variable: a type such as int, list(string), map(string, dyn), optional(int)
    #[arg(long, value_name = "NAME=TYPE", value_parser = variable)]
    pub(crate) var: Vec<(String, Type)>,

    /// Bind a variable to JSON, or to a YAML or JSON file (- is standard input); undeclared, it is dyn
    #[arg(long, value_name = "NAME=JSON|NAME=@FILE", value_parser = binding)]
    pub(crate) bind: Vec<(String, Binding)>,

    /// Bind authorizer to what these RBAC manifests allow: a YAML or JSON file, or a folder of them
    #[arg(long, value_name = "FILE|FOLDER", requires = "user")]
    pub(crate) rbac: Vec<PathBuf>,

    /// The user who asks authorizer: a name, or system:serviceaccount:NAMESPACE:NAME
    #[arg(long = "as", value_name = "USER", requires = "rbac")]
    pub(crate) user: Option<String>,

    /// A group of that user; may be repeated
    #[arg(long = "as-group", value_name = "GROUP", requires = "rbac")]
    pub(crate) groups: Vec<String>,

    /// The version of Kubernetes whose language it is
    #[arg(long, value_name = "VERSION", default_value_t, value_parser = kubernetes_version)]
    pub(crate) kubernetes_version: KubeVersion,

    /// Allow everything that stored expressions may use; new expressions may use less
    #[arg(long)]
    pub(crate) stored: bool,

    /// The functions that may be used
    #[arg(long, value_enum, default_value_t = Environment::Kubernetes)]
    pub(crate) env: Environment,

    /// The name prefix against which names are resolved; only with --env cel
    #[arg(long, value_name = "NAME")]
    pub(crate) container: Option<String>,

    /// Exit with status 1 where the value is false or null, as jq -e does
    #[arg(short, long)]
    pub(crate) exit_status: bool,

    /// Show the static and the actual cost
    #[arg(long)]
    pub(crate) cost: bool,

    /// The most that the evaluation may cost, in cost units
    #[arg(long, value_name = "UNITS", default_value_t = PER_CALL_LIMIT)]
    pub(crate) cost_limit: u64,

    /// Stop the evaluation after this time, such as 500ms or 10s
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) timeout: Option<std::time::Duration>,

    /// How to print the outcome; json is an answer of the batch protocol
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    pub(crate) output: Output,
}

const EXAMPLES: &str = "Examples:
  gavel eval '[1, 2, 3].map(x, x * 2)'
  gavel eval 'object.spec.replicas <= 5' --bind object=@deployment.yaml
  gavel eval 'x + duration(\"1h\")' --var x=timestamp --bind 'x=\"2026-01-31T12:00:00Z\"' --cost";

/// Each problem is one line: file:line:column, the field, what is wrong with it. The exit status is 0 where all objects are
/// valid, 1 where one is not, and 2 where an input cannot be used.
#[derive(Debug, Args)]
#[command(after_help = VALIDATE_EXAMPLES)]
pub(crate) struct ValidateArgs {
    /// A CustomResourceDefinition: a YAML or JSON file, or a folder of them; may be repeated
    #[arg(long, value_name = "FILE|FOLDER", required = true)]
    pub(crate) crd: Vec<PathBuf>,

    /// The objects before the update: those of the same kind and name are compared with the new ones
    #[arg(long, value_name = "FILE|FOLDER")]
    pub(crate) old: Vec<PathBuf>,

    /// Objects: YAML or JSON files of one or several documents, folders of them, or - for standard input
    #[arg(required = true, value_name = "OBJECT")]
    pub(crate) objects: Vec<PathBuf>,

    /// Look into the folders of folders too
    #[arg(short = 'R', long)]
    pub(crate) recursive: bool,

    /// Pass over objects of kinds without a definition, and what is no object of Kubernetes
    #[arg(long)]
    pub(crate) ignore_missing_schemas: bool,

    /// The namespace of objects that name none
    #[arg(short, long, default_value = "default")]
    pub(crate) namespace: String,

    /// What to do about fields that are unknown or come twice, as kubectl's flag of this name
    #[arg(long, value_enum, default_value_t = FieldValidation::Strict)]
    pub(crate) validate: FieldValidation,

    /// The version of Kubernetes whose API server it is
    #[arg(long, value_name = "VERSION", default_value_t, value_parser = kubernetes_version)]
    pub(crate) kubernetes_version: KubeVersion,

    /// How to print problems; json is the Status object of an API server, one line an object
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    pub(crate) output: Output,
}

const VALIDATE_EXAMPLES: &str = "Examples:
  gavel validate --crd crds/ route.yaml
  gavel validate --crd crds/ -R manifests/ --output json
  kubectl get gateways -A -o yaml | gavel validate --crd crds/ -";

/// What is done about fields that are unknown or come twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FieldValidation {
    /// They are problems
    Strict,
    /// They are warnings
    Warn,
    /// Nothing
    Ignore,
}

impl From<FieldValidation> for gavel_policy::api::FieldValidation {
    fn from(validation: FieldValidation) -> Self {
        match validation {
            FieldValidation::Strict => Self::Strict,
            FieldValidation::Warn => Self::Warn,
            FieldValidation::Ignore => Self::Ignore,
        }
    }
}

/// Whose functions an expression may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Environment {
    /// Those of an API server
    Kubernetes,
    /// Those of the specification of CEL, with all its extension libraries
    Cel,
}

/// The functions and macros of an environment, with their signatures, the first Kubernetes version that has them, and
/// what a call costs.
#[derive(Debug, Args)]
pub(crate) struct FunctionsArgs {
    /// The version of Kubernetes whose functions are listed
    #[arg(long, value_name = "VERSION", default_value_t, value_parser = kubernetes_version)]
    pub(crate) kubernetes_version: KubeVersion,

    /// The environment whose functions are listed
    #[arg(long, value_enum, default_value_t = Environment::Kubernetes)]
    pub(crate) env: Environment,

    /// How to print them
    #[arg(short, long, value_enum, default_value_t = FunctionsOutput::Text)]
    pub(crate) output: FunctionsOutput,
}

/// How functions are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FunctionsOutput {
    /// A table for people
    Text,
    /// A document, with examples
    Markdown,
    /// For programs: one line of JSON
    Json,
}

/// How an outcome is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people
    Text,
    /// For programs: JSON, an object a line
    Json,
}

/// Where the value of a variable comes from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Binding {
    Json(Json),
    File(PathBuf),
}

fn named(text: &str) -> Result<(&str, &str), String> {
    match text.split_once('=') {
        Some((name, rest)) if !name.is_empty() => Ok((name, rest)),
        _ => Err("must be NAME=…".to_owned()),
    }
}

fn variable(text: &str) -> Result<(String, Type), String> {
    let (name, ty) = named(text)?;
    let ty = gavel_protocol::read_type(ty).map_err(|error| error.to_string())?;
    Ok((name.to_owned(), ty))
}

fn binding(text: &str) -> Result<(String, Binding), String> {
    let (name, value) = named(text)?;
    let value = match value.strip_prefix('@') {
        Some("") => return Err("must name a file after @".to_owned()),
        Some(path) => Binding::File(path.into()),
        None => Binding::Json(json::read(value.as_bytes()).map_err(|error| {
            format!("the value is not valid JSON: {error}; a string is written '{name}=\"text\"', a file {name}=@FILE")
        })?),
    };
    Ok((name.to_owned(), value))
}

/// Reads a duration above 0 as Go writes it.
fn duration(text: &str) -> Result<std::time::Duration, String> {
    let nanos = gavel_golang::duration::parse(text).and_then(|nanos| u64::try_from(nanos).ok());
    match nanos {
        Some(nanos) if nanos > 0 => Ok(std::time::Duration::from_nanos(nanos)),
        _ => Err("must be a duration above 0 such as 500ms, 10s or 1m30s".to_owned()),
    }
}

/// A count of bytes above 0, as Kubernetes writes quantities: `7Mi`, `512k`, `1000000`.
fn bytes(text: &str) -> Result<usize, String> {
    let quantity = Quantity::parse(text)
        .ok()
        .and_then(|quantity| quantity.as_integer().ok());
    match quantity.and_then(|count| usize::try_from(count).ok()) {
        Some(count) if count > 0 => Ok(count),
        _ => Err("must be a number of bytes above 0 such as 7Mi, 512k or 1000000".to_owned()),
    }
}
