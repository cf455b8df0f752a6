//! The arguments of `gavel serve`.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, ValueEnum};
use gavel_admission_webhook::Limits;
use gavel_cluster::Target;
use gavel_libraries::KubeVersion;
use gavel_protocol::kubernetes_version;

use super::{bytes, duration, number};

/// The arguments of `gavel serve`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group = ArgGroup::new("source").required(true).args(["policies", "cluster", "demo"]))]
pub(crate) struct ServeArgs {
    /// Serve the policies, bindings, params, namespaces, CustomResourceDefinitions and RBAC objects of these manifests: files, or
    /// folders of .yaml, .yml and .json files. Changes take effect within a second
    #[arg(long, value_name = "FILE|FOLDER", num_args = 1..)]
    pub(crate) policies: Vec<PathBuf>,

    /// Also read subfolders
    #[arg(short = 'R', long, conflicts_with_all = ["cluster", "demo"])]
    pub(crate) recursive: bool,

    /// Accept changes that truncate a file or remove all its policies and bindings. Without this flag, Gavel assumes that the file is not
    /// completely written yet, and serves its old content until the file has policies again and is not truncated, or until a restart
    #[arg(long, conflicts_with_all = ["cluster", "demo"])]
    pub(crate) allow_removal: bool,

    /// Serve a cluster's policies of the group policies.gavel.example.com, with the cluster's namespaces, params and
    /// CustomResourceDefinitions. Changes in the cluster take effect at once
    #[arg(long)]
    pub(crate) cluster: bool,

    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// Also evaluate the cluster's policies of the group admissionregistration.k8s.io, but never deny a request by them. If Gavel
    /// would deny a request by these policies, but the API server admitted the request, Gavel logs and counts the difference
    #[arg(long, conflicts_with_all = ["policies", "demo"])]
    pub(crate) native: bool,

    /// The source of decisions for the variable authorizer
    #[arg(long, value_enum, default_value_t = AuthorizerMode::Review, conflicts_with_all = ["policies", "demo"])]
    pub(crate) authorizer: AuthorizerMode,

    /// How long to cache the API server's answer that an authorizer check is allowed
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "5m")]
    pub(crate) authorizer_cache_authorized_ttl: Duration,

    /// How long to cache the API server's answer that an authorizer check is not allowed
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "30s")]
    pub(crate) authorizer_cache_unauthorized_ttl: Duration,

    /// Serve built-in sample policies, by default with plain HTTP on 127.0.0.1
    #[arg(long)]
    pub(crate) demo: bool,

    /// Decide as an API server of this Kubernetes version does; give the version of the cluster. With --cluster, Gavel reads the version
    /// from the cluster
    #[arg(long, value_name = "VERSION", default_value_t, value_parser = kubernetes_version, conflicts_with = "cluster")]
    pub(crate) kubernetes_version: KubeVersion,

    /// The address to listen on; the default is 0.0.0.0:8443, or 127.0.0.1:8080 with --demo
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    pub(crate) listen: Option<SocketAddr>,

    /// Answer health checks and metrics on this address, over plain HTTP; the address of --listen then answers only reviews
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    pub(crate) health_listen: Option<SocketAddr>,

    /// The server's certificate chain, a PEM file; Gavel reloads the file when it changes
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) cert: Option<PathBuf>,

    /// The private key of the certificate, a PEM file
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<PathBuf>,

    /// Require a client certificate that an authority in this PEM file has signed
    #[arg(long, value_name = "FILE", conflicts_with = "plain_http")]
    pub(crate) client_ca: Option<PathBuf>,

    /// Create a certificate for these names, separated by commas, with a temporary authority, and print the authority's certificate as
    /// caBundle; the default names are localhost, 127.0.0.1 and ::1
    #[arg(long, value_name = "NAME", num_args = 0.., value_delimiter = ',', conflicts_with = "cert")]
    pub(crate) self_signed: Option<Vec<String>>,

    /// Store the certificate of --self-signed in this Secret, which all replicas share. The Secret is in the namespace of the service account.
    /// Gavel renews the certificate, and writes its authority into the webhook configurations gavel and gavel-policies
    #[arg(long, value_name = "NAME", requires = "self_signed", conflicts_with_all = ["cert", "plain_http"])]
    pub(crate) tls_secret: Option<String>,

    /// How long the certificate in the Secret is valid; it is renewed when a third of this time is left
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "2160h", requires = "tls_secret")]
    pub(crate) certificate_lifetime: Duration,

    /// Serve without TLS, behind a proxy that terminates it
    #[arg(long, conflicts_with_all = ["cert", "self_signed"])]
    pub(crate) plain_http: bool,

    /// The size limit of a request body, in bytes. API servers send up to two objects of 3 MiB each and an envelope
    #[arg(long, value_name = "BYTES", value_parser = bytes::<usize>, default_value = "7Mi")]
    pub(crate) max_body: usize,

    /// The memory limit of all requests together, in bytes: the request bodies, the values parsed from the bodies, and the answers that
    /// have not been sent. Gavel answers requests beyond the limit with 429, and a request that alone may take more than three quarters
    /// of the limit with 413
    #[arg(long, value_name = "BYTES", value_parser = bytes::<usize>, default_value = "256Mi")]
    pub(crate) max_memory: usize,

    /// The maximum number of open connections. To accept one more, Gavel closes a connection on which no request arrives or is decided, or
    /// else the slowest
    #[arg(long, value_name = "COUNT", value_parser = number(1..=usize::MAX), default_value_t = Limits::default().connections)]
    pub(crate) max_connections: usize,

    /// The number of threads for evaluations that take longer than 1 ms; the default is the number of processors
    #[arg(long, value_name = "COUNT", value_parser = number(1..=usize::MAX))]
    pub(crate) max_evaluations: Option<usize>,

    /// The maximum number of evaluations that wait for one of the threads of --max-evaluations. Gavel answers further requests with 429.
    /// As many can wait again after 20 ms of evaluation; one user or policy gets at most half of these places
    #[arg(long, value_name = "COUNT", value_parser = number(1..=usize::MAX), default_value_t = Limits::default().waiting)]
    pub(crate) max_waiting: usize,

    /// The time limit for a TLS handshake, for the head of the first request, and for sending an answer
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "10s")]
    pub(crate) header_timeout: Duration,

    /// How long a connection can be idle; API servers close idle connections after 90s
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "2m")]
    pub(crate) idle_timeout: Duration,

    /// How long to keep serving after SIGTERM or SIGINT, so that load balancers notice that /readyz fails; the default is 5s, or no delay with --demo
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) shutdown_delay: Option<Duration>,

    /// The time limit of the whole shutdown, including --shutdown-delay
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "25s")]
    pub(crate) grace_period: Duration,

    /// The format of logs
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub(crate) log_format: LogFormat,

    /// The least severe level that is logged
    #[arg(long, value_name = "LEVEL", default_value = "info", ignore_case = true, value_parser = ["error", "warn", "info", "debug", "trace"])]
    pub(crate) log_level: String,
}

const EXAMPLES: &str = "Examples:
  gavel serve --demo
  gavel serve --policies policies/ -R --self-signed gavel.gavel-system.svc
  gavel serve --cluster --self-signed gavel.gavel-system.svc
  gavel serve --policies policies/ --cert tls.crt --key tls.key --client-ca ca.crt";

/// The source of decisions for the variable `authorizer`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuthorizerMode {
    /// The API server, which Gavel asks with SubjectAccessReviews
    Review,
    /// The roles and role bindings of the cluster, which Gavel watches
    Rbac,
}

/// The arguments that select a cluster and an account.
#[derive(Debug, Clone, Args)]
pub(crate) struct TargetArgs {
    /// The kubeconfig file; the default is $KUBECONFIG, then ~/.kube/config, then the pod's service account
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,

    /// The context of the kubeconfig
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
}

impl TargetArgs {
    /// The cluster and account that the arguments select.
    pub(crate) fn target(&self) -> Target {
        Target {
            kubeconfig: self.kubeconfig.clone(),
            context: self.context.clone(),
        }
    }
}

/// The formats of the log lines of `gavel serve`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people
    Text,
    /// For programs: one JSON object per line
    Json,
}

/// Parses an address with a port. Resolves a host name to its first address.
fn address(text: &str) -> Result<SocketAddr, String> {
    let addresses = text.to_socket_addrs();
    let first = addresses.ok().and_then(|mut addresses| addresses.next());
    first.ok_or_else(|| {
        "must be an address and a port such as 127.0.0.1:8443, [::1]:8443 or localhost:8443"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_may_have_names() {
        assert!(address("localhost:0").unwrap().ip().is_loopback());
        assert_eq!(
            address("[::1]:8443").unwrap(),
            SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], 8443))
        );
        for wrong in ["localhost", "127.0.0.1", "8443", "localhost:port"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
