//! `gavel serve`: the validating admission webhook.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use gavel_admission_webhook as webhook;
use gavel_admission_webhook::{
    Config, Identity, Limits, PolicySource, SelfSigned, Shutdown, TlsSettings,
};

use crate::args::{bytes, duration};
use crate::exit_code::Exit;
use crate::report;

/// Answers the AdmissionReviews of an API server as its own ValidatingAdmissionPolicies would have answered them.
///
/// Serves until SIGTERM; what is in flight then is answered. Logs go to standard error.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// Serve the policies, bindings, params, namespaces, CustomResourceDefinitions and RBAC objects of these manifests:
    /// files, or folders of .yaml, .yml and .json; what changes is served within a second
    #[arg(long, value_name = "FILE|FOLDER", num_args = 1.., required_unless_present = "demo")]
    policies: Vec<PathBuf>,

    /// Read the folders in the folders too
    #[arg(short = 'R', long, requires = "policies")]
    recursive: bool,

    /// Serve built-in samples, by plain HTTP on the own machine unless something else is said
    #[arg(long, conflicts_with = "policies")]
    demo: bool,

    /// The address to listen at; default 0.0.0.0:8443, with --demo 127.0.0.1:8080
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,

    /// Answer health checks and metrics at this address, by plain HTTP, and only reviews at the other
    #[arg(long, value_name = "ADDRESS:PORT")]
    health_listen: Option<SocketAddr>,

    /// The server's certificate with those up to its authority, PEM; read again when it changes
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,

    /// The key of the certificate, PEM
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,

    /// Let only clients in whose certificate an authority of this PEM file has signed
    #[arg(long, value_name = "FILE", conflicts_with = "plain_http")]
    client_ca: Option<PathBuf>,

    /// Make a certificate for these names with a throw-away authority, and print the caBundle; default localhost,
    /// 127.0.0.1 and ::1
    #[arg(long, value_name = "NAME", num_args = 0.., value_delimiter = ',', conflicts_with = "cert")]
    self_signed: Option<Vec<String>>,

    /// Serve without TLS, behind something that has it
    #[arg(long, conflicts_with_all = ["cert", "self_signed"])]
    plain_http: bool,

    /// The most bytes of a request's body. API servers send two objects of up to 3 MiB and what they say about them
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value = "7Mi")]
    max_body: usize,

    /// The most bytes that all requests in memory take: their bodies and the values read from them; more is answered 429
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value = "256Mi")]
    max_memory: usize,

    /// The most connections at once; for one more, the longest idle one is closed
    #[arg(long, value_name = "COUNT", default_value_t = Limits::default().connections)]
    max_connections: usize,

    /// The most long evaluations at once; default the number of processors
    #[arg(long, value_name = "COUNT")]
    max_evaluations: Option<usize>,

    /// The most requests that wait for a long evaluation; more are answered 429
    #[arg(long, value_name = "COUNT", default_value_t = Limits::default().waiting)]
    max_waiting: usize,

    /// How long a client may take for a TLS handshake and for the head of its first request
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "10s")]
    header_timeout: Duration,

    /// How long a connection may be idle; API servers keep theirs 90s
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "2m")]
    idle_timeout: Duration,

    /// How long to go on after SIGTERM, until no more requests are sent here
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "5s")]
    shutdown_delay: Duration,

    /// How long ending may take in all
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "25s")]
    grace_period: Duration,

    /// How logs are written
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    log_format: LogFormat,

    /// Which logs are written: error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log_level: String,
}

const EXAMPLES: &str = "Examples:
  gavel serve --demo
  gavel serve --policies policies/ -R --self-signed gavel.gavel-system.svc
  gavel serve --policies policies/ --cert tls.crt --key tls.key --client-ca ca.crt";

/// How logs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    /// For people
    Text,
    /// For programs: an object a line
    Json,
}

/// Serves until the process is told to end.
pub(crate) fn run(args: ServeArgs) -> io::Result<Exit> {
    let log_format = match args.log_format {
        LogFormat::Text => webhook::LogFormat::Text,
        LogFormat::Json => webhook::LogFormat::Json,
    };
    let started = webhook::start_logs(log_format, &args.log_level);
    let config = started.and_then(|()| config(args));
    let config = match config {
        Ok(config) => config,
        Err(error) => {
            report::complain(&error);
            return Ok(Exit::Usage);
        }
    };
    if let Some(TlsSettings {
        identity: Identity::SelfSigned(made),
        ..
    }) = &config.tls
    {
        let mut out = io::stdout().lock();
        writeln!(out, "caBundle: {}", made.ca_bundle())?;
        out.flush()?;
    }
    match webhook::run(config) {
        Ok(()) => Ok(Exit::Success),
        Err(error) => {
            report::complain(&error);
            Ok(Exit::Usage)
        }
    }
}

fn config(args: ServeArgs) -> Result<Config, String> {
    let tls = tls(&args)?;
    let address = args.listen.unwrap_or(match args.demo {
        true => SocketAddr::from(([127, 0, 0, 1], 8080)),
        false => SocketAddr::from(([0, 0, 0, 0], 8443)),
    });
    let limits = Limits::default();
    Ok(Config {
        address,
        health_address: args.health_listen,
        tls,
        policies: match args.demo {
            true => PolicySource::Demo,
            false => PolicySource::Manifests {
                paths: args.policies,
                recursive: args.recursive,
            },
        },
        limits: Limits {
            body: args.max_body,
            memory: args.max_memory,
            header_timeout: args.header_timeout,
            idle_timeout: args.idle_timeout,
            connections: args.max_connections,
            evaluations: args.max_evaluations.unwrap_or(limits.evaluations),
            waiting: args.max_waiting,
        },
        shutdown: Shutdown {
            delay: args.shutdown_delay,
            grace: args.grace_period,
        },
    })
}

fn tls(args: &ServeArgs) -> Result<Option<TlsSettings>, String> {
    let identity = match (&args.cert, &args.key, &args.self_signed) {
        (Some(certificate), Some(key), _) => Identity::Files {
            certificate: certificate.clone(),
            key: key.clone(),
        },
        (_, _, Some(names)) => {
            let names = match names.as_slice() {
                [] => ["localhost", "127.0.0.1", "::1"]
                    .map(str::to_owned)
                    .to_vec(),
                names => names.to_vec(),
            };
            let made = SelfSigned::generate(names).map_err(|error| error.to_string())?;
            Identity::SelfSigned(made)
        }
        _ if args.plain_http || (args.demo && args.client_ca.is_none()) => return Ok(None),
        _ => {
            return Err(
                "TLS needs --cert and --key, or --self-signed for a try; --plain-http goes without"
                    .to_owned(),
            );
        }
    };
    Ok(Some(TlsSettings {
        identity,
        client_ca: args.client_ca.clone(),
    }))
}
