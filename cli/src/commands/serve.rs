//! `gavel serve`: the validating admission webhook.

use std::io::{self, Write};
use std::net::SocketAddr;

use gavel_admission_webhook as webhook;
use gavel_admission_webhook::{
    Config, Identity, Limits, PolicySource, SelfSigned, Shutdown, TlsSettings,
};

use crate::args::{LogFormat, ServeArgs};
use crate::exit_code::Exit;
use crate::report;

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
                allow_removal: args.allow_removal,
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
