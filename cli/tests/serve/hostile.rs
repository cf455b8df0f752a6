//! Hostile clients. They must get few resources, and other clients must be served.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use tokio::net::TcpSocket;

use crate::server::{Server, post_review, review};

/// Reads until the server closes the connection. Returns the duration.
fn until_closed(mut stream: TcpStream) -> Duration {
    let began = Instant::now();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    let mut buffer = [0; 1024];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return began.elapsed(),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return began.elapsed(),
            Err(error) => panic!("still open after {:?}: {error}", began.elapsed()),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_and_wrong_clients_are_closed_and_others_served() {
    let server = Server::start(&[
        "--demo",
        "--self-signed",
        "--header-timeout",
        "1s",
        "--max-connections",
        "64",
    ]);
    let before = server.peak_memory();
    let begun = |n: usize| {
        let begins = [
            &b""[..],
            b"\x16\x03\x01\x02\x00",
            b"GET / HTTP/1.1\r\nHost: x\r\n",
            b"\x00\xff\xfe nothing",
        ];
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(begins[n % begins.len()]).unwrap();
        stream
    };
    let slow: Vec<TcpStream> = (0..32).map(begun).collect();
    let client = server.client();
    post_review(&client, &server, &review("x")).await;
    for stream in slow {
        until_closed(stream);
    }
    let many = std::env::var("GAVEL_HOSTILE_CONNECTIONS").ok();
    let many = many.and_then(|many| many.parse().ok()).unwrap_or(2_000);
    for n in 0..many {
        drop(begun(n));
        if n % 250 == 0 {
            // A new connection is served after the hostile ones.
            post_review(&server.client(), &server, &review("x")).await;
        }
    }
    post_review(&client, &server, &review("x")).await;
    assert!(server.peak_memory() < before + (64 << 20));
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_heads_and_endless_bodies_end_over_plain_http_too() {
    let server = Server::start(&["--demo", "--plain-http", "--header-timeout", "1s"]);
    let before = server.peak_memory();
    let head = |rest: &str| {
        format!(
            "POST /validate?timeout=1s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{rest}"
        )
    };
    for begin in [
        head(""),
        head("Content-Length: 1000\r\n\r\n{"),
        head("Transfer-Encoding: chunked\r\n\r\n5\r\n"),
    ] {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(begin.as_bytes()).unwrap();
        let took = tokio::task::spawn_blocking(move || until_closed(stream))
            .await
            .unwrap();
        assert!(took < Duration::from_secs(20), "{begin:?} {took:?}");
    }
    // A body of 100 MB, with and without the header `Content-Length`.
    for begin in [
        head("Content-Length: 100000000\r\n\r\n"),
        head("Transfer-Encoding: chunked\r\n\r\n"),
    ] {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(begin.as_bytes()).unwrap();
        let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
        for _ in 0..1_600 {
            if stream.write_all(chunk.as_bytes()).is_err() {
                break;
            }
        }
        tokio::task::spawn_blocking(move || until_closed(stream))
            .await
            .unwrap();
    }
    assert!(server.peak_memory() < before + (64 << 20));
}

#[test]
fn unfinished_bodies_end_before_their_deadlines() {
    let server = Server::start(&["--demo", "--plain-http"]);
    let mut stream = TcpStream::connect(server.address).unwrap();
    let head = "POST /validate?timeout=30s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{";
    stream.write_all(head.as_bytes()).unwrap();
    let began = Instant::now();
    expect(&mut stream, "408");
    assert!(began.elapsed() < Duration::from_secs(25));
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_make_room_for_others() {
    let server = Server::start(&["--demo", "--plain-http", "--max-connections", "8"]);
    let open = |head: &str| {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    let served = |_| {
        let mut stream = open("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
        expect(&mut stream, "200");
        stream
    };
    // One connection that was served, then connections that send no request or only a part of one.
    let first = served(0);
    let heads = [
        "",
        "GET / HT",
        "POST /validate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
    ];
    let _silent: Vec<TcpStream> = (0..40).map(|n| open(heads[n % heads.len()])).collect();
    for n in 0..20 {
        served(n);
    }
    drop(first);

    // Idle connections: the longest idle one is closed.
    let mut idle: Vec<TcpStream> = (0..9).map(served).collect();
    let longest = idle.remove(0);
    let took = tokio::task::spawn_blocking(move || until_closed(longest));
    assert!(took.await.unwrap() < Duration::from_secs(10));
    drop(idle);
}

/// The API server is one client with many connections. Clients with many addresses and few connections each must not end its reviews.
#[tokio::test(flavor = "multi_thread")]
async fn silent_connections_from_many_addresses_end_no_review() {
    let server = Server::start(&["--demo", "--plain-http", "--max-connections", "64"]);
    let open = async |address: [u8; 4]| {
        let socket = TcpSocket::new_v4().unwrap();
        let address = SocketAddr::from((Ipv4Addr::from(address), 0));
        socket.bind(address).unwrap();
        let stream = socket.connect(server.address).await.unwrap();
        let stream = stream.into_std().unwrap();
        stream.set_nonblocking(false).unwrap();
        stream
    };
    let body = review("x").to_string();
    let (begin, rest) = body.split_at(body.len() / 2);
    let head = format!(
        "POST /validate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut reviews = Vec::new();
    for _ in 0..8 {
        let mut stream = open([127, 0, 0, 1]).await;
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(begin.as_bytes()).unwrap();
        reviews.push(stream);
    }
    // The bodies now arrive slowly.
    std::thread::sleep(Duration::from_millis(1_100));
    let mut silent = Vec::new();
    for n in 0..60 {
        silent.push(open([127, 0, 1, n / 3]).await);
    }
    // Connections are accepted in order, so the silent ones have been accepted when this one is served.
    let mut last = open([127, 0, 0, 2]).await;
    last.write_all(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
        .unwrap();
    expect(&mut last, "200");
    for mut stream in reviews {
        stream.write_all(rest.as_bytes()).unwrap();
        expect(&mut stream, "200");
    }
}

/// Checks the status of the next answer.
#[track_caller]
fn expect(stream: &mut TcpStream, status: &str) {
    let mut line = [0; 12];
    stream.read_exact(&mut line).unwrap();
    assert_eq!(line.strip_prefix(b"HTTP/1.1 "), Some(status.as_bytes()));
}
