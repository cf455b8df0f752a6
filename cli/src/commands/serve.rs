//! `gavel serve`: the admission webhook.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use gavel_admission_webhook as webhook;
use gavel_admission_webhook::{
    AUTHORITIES, Certifier, Config, Identity, Kept, Limits, LiveSource, PolicySource, SelfSigned,
    Shutdown, StartError, TlsSettings,
};
use gavel_cluster::{AuthorizerCache, Authorizing, Certificates, Cluster, Options};
use tokio::sync::watch;

use crate::args::{AuthorizerMode, LogFormat, ServeArgs};
use crate::exit_code::Exit;
use crate::report;

/// Serves until the process receives a signal to stop.
pub(crate) fn run(args: ServeArgs) -> io::Result<Exit> {
    let log_format = match args.log_format {
        LogFormat::Text => webhook::LogFormat::Text,
        LogFormat::Json => webhook::LogFormat::Json,
    };
    if let Err(error) = webhook::start_logs(log_format, &args.log_level) {
        report::complain(&error);
        return Ok(Exit::Usage);
    }
    match webhook::run(config(args)) {
        Ok(()) => Ok(Exit::Success),
        Err(StartError::Policies(problems)) => {
            problems.iter().for_each(report::complain);
            Ok(Exit::Usage)
        }
        Err(error) => {
            report::complain(&error);
            if let StartError::Listen { error, .. } = &error
                && error.kind() == io::ErrorKind::AddrInUse
            {
                let note = "--listen ADDRESS:PORT sets another address for reviews, and --health-listen for health checks";
                report::notes(&[note.to_owned()]);
            }
            Ok(Exit::Usage)
        }
    }
}

async fn config(args: ServeArgs) -> Result<Config, String> {
    let shutdown = Shutdown {
        delay: args.shutdown_delay.unwrap_or(match args.demo {
            true => Duration::ZERO,
            false => Shutdown::default().delay,
        }),
        grace: args.grace_period,
    };
    let mut problems = Vec::new();
    let (body, memory) = (args.max_body, args.max_memory);
    if body > memory {
        problems.push(format!(
            "--max-body ({body}) must be at most --max-memory ({memory})"
        ));
    }
    let Shutdown { delay, grace } = shutdown;
    if delay > grace {
        problems.push(format!(
            "--shutdown-delay ({delay:?}) must be at most --grace-period ({grace:?})"
        ));
    }
    if !problems.is_empty() {
        return Err(problems.join("; "));
    }
    let tls = tls(&args).await?;
    if let Some(TlsSettings {
        identity: Identity::SelfSigned(made),
        ..
    }) = &tls
    {
        let mut out = io::stdout().lock();
        let printed = writeln!(out, "caBundle: {}", made.ca_bundle());
        let printed = printed.and_then(|()| out.flush());
        printed.map_err(|error| error.to_string())?;
    }
    let address = args.listen.unwrap_or(match args.demo {
        true => SocketAddr::from(([127, 0, 0, 1], 8080)),
        false => SocketAddr::from(([0, 0, 0, 0], 8443)),
    });
    let limits = Limits::default();
    Ok(Config {
        address,
        health_address: args.health_listen,
        tls,
        kubernetes: args.kubernetes_version.into(),
        limits: Limits {
            body,
            memory,
            header_timeout: args.header_timeout,
            idle_timeout: args.idle_timeout,
            connections: args.max_connections,
            evaluations: args.max_evaluations.unwrap_or(limits.evaluations),
            waiting: args.max_waiting,
        },
        shutdown,
        policies: source(args).await?,
    })
}

/// The source of policies. With `--cluster`, connects to the cluster.
async fn source(args: ServeArgs) -> Result<PolicySource, String> {
    if args.demo {
        return Ok(PolicySource::Demo);
    }
    if !args.cluster {
        return Ok(PolicySource::Manifests {
            paths: args.policies,
            recursive: args.recursive,
            allow_removal: args.allow_removal,
        });
    }
    let options = Options {
        target: args.target.target(),
        native: args.native,
        leads: true,
        authorizing: match args.authorizer {
            AuthorizerMode::Rbac => Authorizing::Rbac,
            AuthorizerMode::Review => Authorizing::Review(AuthorizerCache {
                authorized: args.authorizer_cache_authorized_ttl,
                unauthorized: args.authorizer_cache_unauthorized_ttl,
            }),
        },
    };
    let cluster = Cluster::follow(options).await;
    let cluster = cluster.map_err(|error| error.to_string())?;
    Ok(PolicySource::Live(LiveSource {
        published: cluster.published(),
        live: cluster.live(),
    }))
}

async fn tls(args: &ServeArgs) -> Result<Option<TlsSettings>, String> {
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
            match &args.tls_secret {
                Some(secret) => Identity::Kept(kept(args, secret, names).await?),
                None => {
                    let made = SelfSigned::generate(names).map_err(|error| error.to_string())?;
                    Identity::SelfSigned(made)
                }
            }
        }
        _ if args.plain_http || (args.demo && args.client_ca.is_none()) => return Ok(None),
        _ => {
            return Err(
                "TLS requires --cert and --key, or --self-signed; --plain-http serves without TLS"
                    .to_owned(),
            );
        }
    };
    Ok(Some(TlsSettings {
        identity,
        client_ca: args.client_ca.clone(),
    }))
}

/// The pause between two checks of a certificate is its lifetime divided by this number, but at least 1 s and at most 10 s.
const LOOKS: u32 = 100;

/// Stores the server's certificate in a Secret and renews it there. Returns a receiver of the current certificate.
async fn kept(
    args: &ServeArgs,
    secret: &str,
    names: Vec<String>,
) -> Result<watch::Receiver<Kept>, String> {
    let lifetime = args.certificate_lifetime;
    let certifier = Certifier { names, lifetime };
    let certify = move |kept: Option<&Kept>| {
        let certified = certifier.certify(kept, SystemTime::now());
        certified.map_err(|error| error.to_string())
    };
    let pause = lifetime.checked_div(LOOKS).unwrap_or_default();
    let certificates = Certificates {
        secret: secret.to_owned(),
        authorities: AUTHORITIES,
        certify: Box::new(certify),
        pause: pause.clamp(Duration::from_secs(1), Duration::from_secs(10)),
    };
    let kept = certificates.keep(&args.target.target()).await;
    kept.map_err(|error| error.to_string())
}
