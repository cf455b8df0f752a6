//! The server that is measured.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use base64::Engine;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value as Json;

use crate::Outcome;
use crate::client::Connection;
use crate::work::Work;

/// The binary, serving on the second processor.
pub(crate) struct Served {
    child: Child,
    port: u16,
    tls: Option<Arc<ClientConfig>>,
    folder: PathBuf,
}

impl Served {
    pub(crate) fn start(gavel: &Path, work: &Work, tls: bool) -> Outcome<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("gavel-load-{}-{count}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("policies.yaml"), &work.manifests)?;
        let mut child = Command::new("taskset")
            .args(["-c", "1"])
            .arg(gavel)
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--log-format",
                "json",
                "--shutdown-delay",
                "1ms",
                "--policies",
            ])
            .arg(&folder)
            .arg(if tls { "--self-signed" } else { "--plain-http" })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let tls = match (tls, child.stdout.take()) {
            (true, Some(stdout)) => Some(trusting(stdout)?),
            _ => None,
        };
        let mut logs = BufReader::new(child.stderr.take().ok_or("no logs")?).lines();
        let port = loop {
            let line = logs.next().ok_or("not serving")??;
            let log: Json = serde_json::from_str(&line).map_err(|_| line)?;
            let address = log.get("address").and_then(Json::as_str);
            if let Some(port) = address.and_then(|address| address.rsplit(':').next()) {
                break port.parse()?;
            }
        };
        std::thread::spawn(move || logs.for_each(drop));
        Ok(Served {
            child,
            port,
            tls,
            folder,
        })
    }

    pub(crate) fn connect(&self) -> Outcome<Connection> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_nodelay(true)?;
        let Some(config) = &self.tls else {
            stream.set_nonblocking(true)?;
            return Ok(Connection::new(Box::new(stream)));
        };
        let name = ServerName::try_from("localhost")?;
        let mut tls = ClientConnection::new(Arc::clone(config), name)?;
        while tls.is_handshaking() {
            tls.complete_io(&mut stream)?;
        }
        stream.set_nonblocking(true)?;
        Ok(Connection::new(Box::new(StreamOwned::new(tls, stream))))
    }

    /// Memory in kilobytes: `VmRSS:` is the resident memory, `VmHWM:` its peak.
    pub(crate) fn kilobytes(&self, what: &str) -> Outcome<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let found = status.lines().find_map(|line| line.strip_prefix(what));
        let found = found.and_then(|found| found.trim().strip_suffix(" kB"));
        Ok(found.ok_or("no such line")?.parse()?)
    }

    /// The CPU time that the server has used, to a hundredth of a second.
    pub(crate) fn cpu(&self) -> Outcome<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let (_, fields) = stat.rsplit_once(") ").ok_or("no such process")?;
        // `fields` begins with field 3 of proc(5). Fields 14 and 15 are the user and system time, in hundredths of a second.
        let ticks = fields.split(' ').skip(11).take(2);
        let ticks = ticks.map(str::parse::<u32>).sum::<Result<u32, _>>()?;
        Ok(Duration::from_millis(10).saturating_mul(ticks))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The settings of a client that trusts the certificate authority that the server prints.
fn trusting(stdout: impl Read) -> Outcome<Arc<ClientConfig>> {
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line)?;
    let bundle = line
        .trim()
        .strip_prefix("caBundle: ")
        .ok_or("no caBundle")?;
    let pem = base64::engine::general_purpose::STANDARD.decode(bundle)?;
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(&pem)?)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}
