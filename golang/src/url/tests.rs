use super::*;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn reads_what_go_reads() {
    let check = |text: &str, [scheme, host, hostname, port, path]: [&str; 5]| {
        let url = url(text);
        let found = [
            url.scheme(),
            &url.host(),
            &url.hostname(),
            url.port(),
            url.escaped_path(),
        ];
        assert_eq!(found, [scheme, host, hostname, port, path], "{text}");
    };
    check(
        "https://example.com:80/p?q#f",
        ["https", "example.com:80", "example.com", "80", "/p"],
    );
    check("HTTPS://User@H/", ["https", "H", "H", "", "/"]);
    check("https://h:/", ["https", "h:", "h", "", "/"]);
    check("https://[::1]:1", ["https", "[::1]:1", "::1", "1", ""]);
    check(
        "https://[fe80::1%25en0]/",
        ["https", "[fe80::1%en0]", "fe80::1%en0", "", "/"],
    );
    check("foo://a:1:2/", ["foo", "a:1:2", "a:1", "2", "/"]);
    check("//host/path", ["", "host", "host", "", "/path"]);
    check("///a", ["", "", "", "", "///a"]);
    check("mailto:a@b", ["mailto", "", "", "", ""]);
    check("*", ["", "", "", "", "*"]);
    check("http:/a", ["http", "", "", "", "/a"]);
    check("http://h%E9/", ["http", "h\u{fffd}", "h\u{fffd}", "", "/"]);
}

#[test]
fn paths_stay_as_they_are_where_they_are_well_encoded() {
    for (text, expected) in [
        ("/a%2Fb", "/a%2Fb"),
        ("/a%2fb c", "/a/b%20c"),
        ("/é", "/%C3%A9"),
        ("/%E9", "/%E9"),
        ("/a\"b", "/a%22b"),
        ("/a!b[c]", "/a!b[c]"),
    ] {
        assert_eq!(url(text).escaped_path(), expected);
    }
}

#[test]
fn badly_encoded_parts_of_a_query_are_ignored() {
    let check = |text: &str, expected: &[(&str, &str)]| {
        let url = url(text);
        let pairs: Vec<_> = url.query().collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(key, value)| ((*key).into(), (*value).into()))
            .collect();
        assert_eq!(pairs, expected, "{text}");
    };
    check(
        "/?b=1&a=x+y&b=%32&c",
        &[("b", "1"), ("a", "x y"), ("b", "2"), ("c", "")],
    );
    check("/?a;b=1&%zz=1&c=%&&=d", &[("", "d")]);
    check("/?a=b=c", &[("a", "b=c")]);
    check(&format!("/?{}", "a&".repeat(10_000)), &[]);
}

#[test]
fn is_written_as_go_writes_it() {
    for (text, expected) in [
        ("HTTP://h/a b", "http://h/a%20b"),
        ("http://h", "http://h"),
        ("http://u:p%40@h%C3%A9/?#", "http://u:p%40@h%C3%A9/?"),
        ("http:///a", "http:///a"),
        ("http:/a", "http:/a"),
        ("http://", "http:"),
        ("a:b?c#d e", "a:b?c#d%20e"),
        ("//@h", "//@h"),
        ("/a??", "/a??"),
    ] {
        assert_eq!(url(text).as_str(), expected, "{text}");
    }
}

#[test]
fn words_faults_as_go_does() {
    let check = |text: &str, expected: &str| {
        let message = Url::parse(text)
            .map(|url| url.text)
            .map_err(|error| error.to_string());
        assert_eq!(message, Err(expected.to_owned()), "{text}");
    };
    check("", r#"parse "": empty url"#);
    check(
        "a\n",
        r#"parse "a\n": net/url: invalid control character in URL"#,
    );
    check(":a", r#"parse ":a": missing protocol scheme"#);
    check("a", r#"parse "a": invalid URI for request"#);
    check("1a:/", r#"parse "1a:/": invalid URI for request"#);
    check("/%zz", r#"parse "/%zz": invalid URL escape "%zz""#);
    check("/%zé", r#"parse "/%zé": invalid URL escape "%z\xc3""#);
    check("/%a", r#"parse "/%a": invalid URL escape "%a""#);
    check("/?#%g", r#"parse "/?#%g": invalid URL escape "%g""#);
    check(
        "a://b c",
        r#"parse "a://b c": invalid character " " in host name"#,
    );
    check("a://b%41", r#"parse "a://b%41": invalid URL escape "%41""#);
    check("a://é@b", r#"parse "a://é@b": net/url: invalid userinfo"#);
    check(
        "a://b:c",
        r#"parse "a://b:c": invalid port ":c" after host"#,
    );
    check(
        "http://b:1:2",
        r#"parse "http://b:1:2": invalid port ":1:2" after host"#,
    );
    check("a://[::1", r#"parse "a://[::1": missing ']' in host"#);
    check("a://b[::1]", r#"parse "a://b[::1]": invalid IP-literal"#);
    check(
        "a://[1.2.3.4]",
        r#"parse "a://[1.2.3.4]": invalid IP-literal"#,
    );
    check(
        "a://[b]",
        r#"parse "a://[b]": invalid host: ParseAddr("b"): unable to parse IP"#,
    );
}

#[test]
fn references_may_be_relative() {
    let check = |text: &str, expected: Result<[&str; 5], &str>| {
        let read = Url::parse_reference(text).map_err(|error| error.to_string());
        let read = read.as_ref().map(|url| {
            let user = url.user().unwrap_or("-").to_owned();
            [
                url.scheme().to_owned(),
                url.host().into_owned(),
                user,
                url.raw_query().to_owned(),
                url.fragment().into_owned(),
            ]
        });
        let expected = expected.map(|parts| parts.map(str::to_owned));
        assert_eq!(read.map_err(String::as_str), expected, "{text}");
    };
    check("", Ok(["", "", "-", "", ""]));
    check("a/b?c#d%20e", Ok(["", "", "-", "c", "d e"]));
    check(
        "ftp://u:p%20@/?a??#b#c",
        Ok(["ftp", "", "u:p%20", "a??", "b#c"]),
    );
    check(
        "a b:c",
        Err(r#"parse "a b:c": first path segment in URL cannot contain colon"#),
    );
    check(":a", Err(r#"parse ":a": missing protocol scheme"#));
}
