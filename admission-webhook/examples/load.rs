//! Load for `gavel serve`, on loopback: how many reviews a second, how fast, in how much memory. Run by `.ci/load`.
//!
//! For each kind of work the binary is started anew and asked over 8 connections that are kept, first as fast as it
//! answers, then at half that rate. `GET /livez` of the same server, which decides nothing, is the limit. Client and server
//! share the machine.

#![expect(clippy::print_stdout, reason = "the table is what this program is for")]

use std::error::Error;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value as Json, json};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const CONNECTIONS: u32 = 8;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args_os().skip(1);
    let gavel = PathBuf::from(arguments.next().ok_or("usage: load GAVEL [SECONDS]")?);
    let seconds = arguments
        .next()
        .and_then(|text| text.to_str()?.parse().ok());
    let time = Duration::from_secs(seconds.unwrap_or(5));
    println!(
        "| work | transport | requests/s | of /livez | p50 | p99 | p99 at half load | peak memory |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for tls in [false, true] {
        let limit = measure(&gavel, &Work::idle(), tls, time)?.rate;
        for work in [
            Work::idle(),
            Work::simple(),
            Work::pods(),
            Work::bindings(),
            Work::large(),
        ] {
            let found = measure(&gavel, &work, tls, time)?;
            println!(
                "| {} | {} | {:.0} | {:.0} % | {} | {} | {} | {:.0} MB |",
                work.name,
                if tls { "TLS" } else { "plain" },
                found.rate,
                100.0 * found.rate / limit,
                micros(found.p50),
                micros(found.p99),
                micros(found.p99_at_half),
                found.peak_kilobytes / 1024.0,
            );
        }
    }
    Ok(())
}

fn micros(time: Duration) -> String {
    format!("{} µs", time.as_micros())
}

/// What is asked, and by what it is decided.
struct Work {
    name: &'static str,
    manifests: String,
    request: Vec<u8>,
}

impl Work {
    fn idle() -> Self {
        Work {
            name: "GET /livez",
            manifests: policy("a", "true", 1),
            request: b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
        }
    }

    fn simple() -> Self {
        Work {
            name: "1 policy",
            manifests: policy(
                "a",
                "object.spec.containers.all(c, c.image.startsWith('ghcr.io/'))",
                1,
            ),
            request: review(&pod(2, 0)),
        }
    }

    fn pods() -> Self {
        let mut manifests = String::new();
        for (n, expression) in POD_SECURITY.iter().enumerate() {
            manifests.push_str(&policy(&format!("p{n}"), expression, 1));
        }
        Work {
            name: "16 pod security policies",
            manifests,
            request: review(&pod(2, 0)),
        }
    }

    fn bindings() -> Self {
        Work {
            name: "1,000 bindings",
            manifests: policy(
                "a",
                "object.spec.containers.all(c, c.image.startsWith('ghcr.io/'))",
                1_000,
            ),
            request: review(&pod(2, 0)),
        }
    }

    fn large() -> Self {
        Work {
            name: "100 KB objects",
            manifests: policy(
                "a",
                "object.spec.containers.all(c, c.image.startsWith('ghcr.io/'))",
                1,
            ),
            request: review(&pod(20, 100_000)),
        }
    }
}

/// Rules as the pod security standards have them.
const POD_SECURITY: [&str; 16] = [
    "!object.spec.?hostNetwork.orValue(false)",
    "!object.spec.?hostPID.orValue(false)",
    "!object.spec.?hostIPC.orValue(false)",
    "object.spec.containers.all(c, !c.?securityContext.?privileged.orValue(false))",
    "object.spec.containers.all(c, !c.?securityContext.?allowPrivilegeEscalation.orValue(true))",
    "object.spec.containers.all(c, c.?securityContext.?capabilities.?drop.orValue([]).exists(d, d == 'ALL'))",
    "object.spec.containers.all(c, c.?securityContext.?capabilities.?add.orValue([]).all(a, a == 'NET_BIND_SERVICE'))",
    "object.spec.containers.all(c, c.?securityContext.?readOnlyRootFilesystem.orValue(false))",
    "object.spec.?securityContext.?runAsNonRoot.orValue(false) == true",
    "object.spec.?securityContext.?runAsUser.orValue(1) != 0",
    "object.spec.?securityContext.?seccompProfile.?type.orValue('') in ['RuntimeDefault', 'Localhost']",
    "object.spec.?securityContext.?sysctls.orValue([]).size() == 0",
    "object.spec.?volumes.orValue([]).all(v, !has(v.hostPath))",
    "object.spec.containers.all(c, c.?ports.orValue([]).all(p, !has(p.hostPort)))",
    "object.spec.containers.all(c, c.image.matches('^[a-z0-9./-]+(:[a-z0-9.]+|@sha256:[0-9a-f]{64})$'))",
    "object.spec.containers.all(c, has(c.resources.limits) && quantity(c.resources.limits.memory).isLessThan(quantity('2Gi')))",
];

fn policy(name: &str, expression: &str, bindings: usize) -> String {
    let mut text = format!(
        r#"---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: {name}}}
spec:
  matchConstraints:
    resourceRules:
    - {{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [pods]}}
  validations:
  - expression: {expression:?}
"#
    );
    for n in 0..bindings {
        // Writing to a text does not fail.
        let _ = write!(
            text,
            r#"---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: {name}-{n}}}
spec:
  policyName: {name}
  validationActions: [Deny]
"#
        );
    }
    text
}

fn pod(containers: usize, padding: usize) -> Json {
    let container = |n: usize| {
        json!({
            "name": format!("c{n}"),
            "image": "ghcr.io/shop/web:1.42",
            "ports": [{"containerPort": 8080, "protocol": "TCP"}],
            "env": [{"name": "MODE", "value": "production"}],
            "resources": {"limits": {"cpu": "1", "memory": "512Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
            "securityContext": {
                "privileged": false, "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
                "capabilities": {"drop": ["ALL"]},
            },
        })
    };
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "default", "annotations": {"padding": "x".repeat(padding)}},
        "spec": {
            "containers": (0..containers).map(container).collect::<Vec<_>>(),
            "securityContext": {"runAsNonRoot": true, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
            "volumes": [{"name": "data", "emptyDir": {}}],
        },
    })
}

fn review(object: &Json) -> Vec<u8> {
    let resource = json!({"group": "", "version": "v1", "resource": "pods"});
    let kind = json!({"group": "", "version": "v1", "kind": "Pod"});
    let body = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": kind, "resource": resource, "requestKind": kind, "requestResource": resource,
            "name": "web", "namespace": "default", "operation": "CREATE",
            "userInfo": {"username": "alice", "groups": ["system:authenticated"]},
            "object": object, "oldObject": null, "dryRun": false,
            "options": {"apiVersion": "meta.k8s.io/v1", "kind": "CreateOptions"},
        },
    })
    .to_string();
    let length = body.len();
    let head = format!(
        "POST /validate?timeout=10s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    [head.into_bytes(), body.into_bytes()].concat()
}

/// What was found.
struct Found {
    rate: f64,
    p50: Duration,
    p99: Duration,
    p99_at_half: Duration,
    peak_kilobytes: f64,
}

fn measure(gavel: &Path, work: &Work, tls: bool, time: Duration) -> Outcome<Found> {
    let server = Served::start(gavel, work, tls)?;
    // Once for all that is done the first time only.
    load(&server, work, Duration::from_millis(500), None)?;
    let times = load(&server, work, time, None)?;
    let rate = as_f64(times.len()) / time.as_secs_f64();
    let pause = Duration::from_secs_f64(2.0 * f64::from(CONNECTIONS) / rate.max(1.0));
    let at_half = load(&server, work, time, Some(pause))?;
    Ok(Found {
        rate,
        p50: percentile(&times, 0.5),
        p99: percentile(&times, 0.99),
        p99_at_half: percentile(&at_half, 0.99),
        peak_kilobytes: server.peak_kilobytes()?,
    })
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of requests are far below 2^52"
)]
fn as_f64(count: usize) -> f64 {
    count as f64
}

/// The time below which that part of the sorted times is.
fn percentile(times: &[Duration], part: f64) -> Duration {
    let mut index = 0;
    while as_f64(index) < as_f64(times.len()) * part {
        index = index.saturating_add(1);
    }
    times
        .get(index.saturating_sub(1))
        .copied()
        .unwrap_or_default()
}

/// Asks over all connections, each of which waits between the beginnings of its requests; the times, sorted.
fn load(
    server: &Served,
    work: &Work,
    time: Duration,
    pause: Option<Duration>,
) -> Outcome<Vec<Duration>> {
    let until = Instant::now().checked_add(time).ok_or("no such time")?;
    let mut times = std::thread::scope(|scope| -> Outcome<Vec<Duration>> {
        let run = || -> Outcome<Vec<Duration>> {
            let mut connection = server.connect()?;
            let (mut times, mut answer) = (Vec::new(), Vec::new());
            while Instant::now() < until {
                let began = Instant::now();
                connection.write_all(&work.request)?;
                read_answer(&mut connection, &mut answer)?;
                let took = began.elapsed();
                times.push(took);
                if let Some(pause) = pause {
                    std::thread::sleep(pause.saturating_sub(took));
                }
            }
            Ok(times)
        };
        let threads: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(run)).collect();
        let mut all = Vec::new();
        for thread in threads {
            all.extend(thread.join().map_err(|_| "a connection panicked")??);
        }
        Ok(all)
    })?;
    times.sort_unstable();
    Ok(times)
}

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// Reads one answer, which must be 200 and allow what was asked.
fn read_answer(stream: &mut Box<dyn Stream>, answer: &mut Vec<u8>) -> Outcome<()> {
    answer.clear();
    let mut buffer = [0; 8192];
    loop {
        let read = stream.read(&mut buffer)?;
        answer.extend_from_slice(buffer.get(..read).unwrap_or_default());
        let text = String::from_utf8_lossy(answer);
        if read == 0 {
            return Err(format!("the connection ended: {text}").into());
        }
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.parse::<usize>().ok())?
        });
        if length.is_some_and(|length| body.len() >= length) {
            let is_good = head.starts_with("HTTP/1.1 200") && !body.contains("\"allowed\":false");
            return is_good
                .then_some(())
                .ok_or_else(|| text.into_owned().into());
        }
    }
}

/// The binary, serving.
struct Served {
    child: Child,
    port: u16,
    tls: Option<Arc<ClientConfig>>,
    folder: PathBuf,
}

impl Served {
    fn start(gavel: &Path, work: &Work, tls: bool) -> Outcome<Self> {
        let folder = std::env::temp_dir().join(format!("gavel-load-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("policies.yaml"), &work.manifests)?;
        let mut child = Command::new(gavel)
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

    fn connect(&self) -> Outcome<Box<dyn Stream>> {
        let stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_nodelay(true)?;
        Ok(match &self.tls {
            None => Box::new(stream),
            Some(config) => {
                let name = ServerName::try_from("localhost")?;
                let connection = ClientConnection::new(Arc::clone(config), name)?;
                Box::new(StreamOwned::new(connection, stream))
            }
        })
    }

    /// The most memory that was resident.
    fn peak_kilobytes(&self) -> Outcome<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|peak| peak.trim().strip_suffix(" kB"));
        Ok(peak.ok_or("no VmHWM")?.parse()?)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A client that trusts the authority that the server prints.
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
