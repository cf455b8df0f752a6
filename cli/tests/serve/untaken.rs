//! Clients that do not take their answers. Their answers must not take unlimited memory, and not for long.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::program::{Folder, mutating_policy};
use crate::server::{Server, review};

/// The bytes of the text in the object. The answer contains the text three times, in base64: more than the buffers of a connection.
const TEXT: usize = 2_900_000;

fn copying() -> Folder {
    let copies = "Object{data: Object.data{a: object.data.x, b: object.data.x, c: object.data.x}}";
    Folder::new().with(
        "copies.yaml",
        &mutating_policy("copies", "configmaps", copies),
    )
}

/// Sends a review and reads only the status of the answer.
fn status(server: &Server) -> (TcpStream, u16) {
    let mut review = review("x");
    review["request"]["object"]["data"] = json!({"x": "x".repeat(TEXT)});
    let body = review.to_string();
    let mut stream = TcpStream::connect(server.address).unwrap();
    let head = format!(
        "POST /mutate?timeout=30s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    let status = std::str::from_utf8(&status).unwrap();
    let code = status.strip_prefix("HTTP/1.1 ").unwrap();
    (stream, code.parse().unwrap())
}

#[test]
fn answers_that_nobody_takes_count_against_the_memory_limit() {
    let folder = copying();
    let arguments = ["--policies", folder.text(), "--plain-http"];
    let bounds = ["--max-memory", "32Mi", "--header-timeout", "10m"];
    let server = Server::start(&[&arguments[..], &bounds].concat());
    let open: Vec<(TcpStream, u16)> = (0..6).map(|_| status(&server)).collect();
    let codes: Vec<u16> = open.iter().map(|(_, code)| *code).collect();
    assert_eq!(codes.first(), Some(&200));
    assert_eq!(codes.last(), Some(&429));
    assert!(
        codes.iter().filter(|code| **code == 200).count() < 4,
        "{codes:?}"
    );
    // The memory is free again when the clients are gone.
    drop(open);
    let until = Instant::now() + Duration::from_secs(60);
    while status(&server).1 != 200 {
        assert!(Instant::now() < until, "no memory");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn clients_that_do_not_take_their_answers_are_closed() {
    let folder = copying();
    let arguments = ["--policies", folder.text(), "--plain-http"];
    let server = Server::start(&[&arguments[..], &["--header-timeout", "1s"]].concat());
    let (mut stream, code) = status(&server);
    assert_eq!(code, 200);
    server.wait_for_log("the client did not take its answer");
    let mut rest = Vec::new();
    if let Err(error) = stream.read_to_end(&mut rest) {
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
    assert!(rest.len() < 3 * TEXT, "{} bytes", rest.len());
}
