use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

fn error(pattern: &str) -> String {
    Regex::validate(pattern).map_or_else(|error| error.to_string(), |()| "none".to_owned())
}

/// Compiles the pattern in three ways: as usual; with an automaton that treats every text as long; and as a program for the virtual
/// machine.
fn all(pattern: &str) -> [Regex; 3] {
    let parsed = parse::parse(pattern, true, &Work::unbounded()).unwrap();
    let groups = parsed.groups;
    let of = |matcher: Matcher| Regex {
        search: Arc::new(matcher.into()),
        groups,
    };
    let machine = Program::compile(&parsed.tree, &Work::unbounded()).unwrap();
    let machine = of(Matcher::Machine(machine));
    let regex = Regex::with_groups(pattern).unwrap();
    let patient = match Automaton::new(pattern, &parsed, true) {
        Some(automaton) => of(Matcher::Automaton(Box::new(automaton.of_many_states()))),
        None => machine.clone(),
    };
    [regex, patient, machine]
}

#[test]
fn a_usual_pattern_is_compiled_when_it_is_first_searched_with() {
    let small = Regex::deferred("^[a-z]([-a-z0-9]*[a-z0-9])?$").unwrap();
    assert!(small.search.matcher.get().is_none());
    assert!(small.is_match("checkout"));
    assert!(!small.clone().is_match("-checkout"));
    assert!(small.search.matcher.get().is_some());
    let large = Regex::deferred("^(?:[a-z]{1,60}[.]){1,16}$").unwrap();
    assert!(large.search.matcher.get().is_some());
    assert!(large.is_match("a.b."));
    assert_eq!(
        Regex::deferred("a(").unwrap_err(),
        Regex::new("a(").unwrap_err()
    );
}

fn never() -> bool {
    false
}

#[test]
fn words_errors_as_go_does() {
    let cases = [
        ("[", "missing closing ]", "["),
        ("[a", "missing closing ]", "[a"),
        ("[]", "missing closing ]", "[]"),
        ("[^]", "missing closing ]", "[^]"),
        ("[a-", "missing closing ]", "[a-"),
        ("[[:alpha:]", "missing closing ]", "[[:alpha:]"),
        (r"[a\]", "missing closing ]", r"[a\]"),
        ("[b-a]", "invalid character class range", "b-a"),
        ("[[:foo:]]", "invalid character class range", "[:foo:]"),
        (r"\p", "invalid character class range", r"\p"),
        (r"\pX", "invalid character class range", r"\pX"),
        (r"\p{", "invalid character class range", r"\p{"),
        (r"\p{Greek", "invalid character class range", r"\p{Greek"),
        (r"\p{Foo}", "invalid character class range", r"\p{Foo}"),
        (
            r"\p{Old_Italic}",
            "invalid character class range",
            r"\p{Old_Italic}",
        ),
        (r"[\p{Foo}]", "invalid character class range", r"\p{Foo}"),
        (r"[a-\d]", "invalid escape sequence", r"\d"),
        (r"\8", "invalid escape sequence", r"\8"),
        (r"\1", "invalid escape sequence", r"\1"),
        (r"\q", "invalid escape sequence", r"\q"),
        (r"\é", "invalid escape sequence", r"\é"),
        (r"\Z", "invalid escape sequence", r"\Z"),
        (r"\C", "invalid escape sequence", r"\C"),
        (r"\x", "invalid escape sequence", r"\x"),
        (r"\x4", "invalid escape sequence", r"\x4"),
        (r"\xg", "invalid escape sequence", r"\xg"),
        (r"\x{", "invalid escape sequence", r"\x{"),
        (r"\x{}", "invalid escape sequence", r"\x{}"),
        (r"\x{41", "invalid escape sequence", r"\x{41"),
        (r"\x{4g}", "invalid escape sequence", r"\x{4g"),
        (r"\x{110000}", "invalid escape sequence", r"\x{110000"),
        ("(", "missing closing )", "("),
        ("a(b", "missing closing )", "a(b"),
        ("(?:a", "missing closing )", "(?:a"),
        ("()(", "missing closing )", "()("),
        ("(?P<n>", "missing closing )", "(?P<n>"),
        ("a)", "unexpected )", "a)"),
        (")", "unexpected )", ")"),
        ("*", "missing argument to repetition operator", "*"),
        ("+a", "missing argument to repetition operator", "+"),
        ("?", "missing argument to repetition operator", "?"),
        ("a|*", "missing argument to repetition operator", "*"),
        ("(*)", "missing argument to repetition operator", "*"),
        ("(?:*)", "missing argument to repetition operator", "*"),
        ("{2}", "missing argument to repetition operator", "{2}"),
        ("a|{2}", "missing argument to repetition operator", "{2}"),
        (r"\Q\E*", "missing argument to repetition operator", "*"),
        ("a**", "invalid nested repetition operator", "**"),
        ("a*+", "invalid nested repetition operator", "*+"),
        ("a*??", "invalid nested repetition operator", "*??"),
        ("a+{2}", "invalid nested repetition operator", "+{2}"),
        ("a{2}{3}", "invalid nested repetition operator", "{2}{3}"),
        ("a{2}*?", "invalid nested repetition operator", "{2}*?"),
        (
            "a{1000}{2}",
            "invalid nested repetition operator",
            "{1000}{2}",
        ),
        ("a++", "invalid nested repetition operator", "++"),
        ("x{2}{2}?", "invalid nested repetition operator", "{2}{2}?"),
        ("a{1001}", "invalid repeat count", "{1001}"),
        ("a{2,1}", "invalid repeat count", "{2,1}"),
        ("(a{100}){11}", "invalid repeat count", "{11}"),
        ("((a{10}){10}){11}", "invalid repeat count", "{11}"),
        ("a{99999999999}", "invalid repeat count", "{99999999999}"),
        (r"\", "trailing backslash at end of expression", ""),
        (r"a\", "trailing backslash at end of expression", ""),
        (r"[\", "trailing backslash at end of expression", ""),
        ("(?", "invalid or unsupported Perl syntax", "(?"),
        ("(?i", "invalid or unsupported Perl syntax", "(?i"),
        ("(?i-)", "invalid or unsupported Perl syntax", "(?i-)"),
        ("(?-)", "invalid or unsupported Perl syntax", "(?-)"),
        ("(?i-s--m)", "invalid or unsupported Perl syntax", "(?i-s-"),
        ("(?x)", "invalid or unsupported Perl syntax", "(?x"),
        ("(?=a)", "invalid or unsupported Perl syntax", "(?="),
        ("(?!a)", "invalid or unsupported Perl syntax", "(?!"),
        ("(?<", "invalid or unsupported Perl syntax", "(?<"),
        ("(?P=n)", "invalid or unsupported Perl syntax", "(?P"),
        ("(?'n'a)", "invalid or unsupported Perl syntax", "(?'"),
        ("(?#c)", "invalid or unsupported Perl syntax", "(?#"),
        ("(?>a)", "invalid or unsupported Perl syntax", "(?>"),
        ("(?<=a)", "invalid named capture", "(?<=a)"),
        ("(?<a", "invalid named capture", "(?<a"),
        ("(?<>a)", "invalid named capture", "(?<>"),
        ("(?<a-b>x)", "invalid named capture", "(?<a-b>"),
        ("(?P<n", "invalid named capture", "(?P<n"),
        ("(?P<é>a)", "invalid named capture", "(?P<é>"),
    ];
    for (pattern, problem, expression) in cases {
        assert_eq!(
            error(pattern),
            format!("error parsing regexp: {problem}: `{expression}`"),
            "{pattern:?}"
        );
    }
}

#[test]
fn accepts_what_go_accepts() {
    let cases = [
        "^*",
        "(a{1000}){1,1}",
        "(a{0}){1000}",
        "(a{0,}){1000}",
        "a{,2}",
        "a{",
        "a{1",
        "a{1,",
        "a{01}",
        "a{1,x}",
        r"\x{10FFFF}",
        r"\pL*",
        "(?)",
        "(?i)",
        "(?P<n>a)",
        "(?<n>a)",
        "(?P<n>a)(?P<n>b)",
        r"\Qa*",
        r"\Qab\E*",
        r"a*\Q\E*",
        r"\Q\E",
        "]",
        "}",
        "a]",
        "[]a]",
        "[a-z-9]",
        "[--a]",
        "[a&&b]",
        "[[a]",
        r"\b*",
        "(|a)*",
        "|",
        "||",
        "()",
        "(?i:a|(?-i)b)",
        "(?U)a+",
        "(?m:^a$)",
        r"[\x{d800}]",
        r"\x{dfff}",
    ];
    for pattern in cases {
        assert_eq!(error(pattern), "none", "{pattern:?}");
    }
}

#[test]
fn finds_what_go_finds() {
    type Case<'t> = (&'t str, &'t str, &'t [(usize, usize)]);
    let cases: &[Case<'_>] = &[
        ("a|ab", "ab", &[(0, 1)]),
        ("a*?", "aa", &[(0, 0), (1, 1), (2, 2)]),
        ("(?U)a+", "aaa", &[(0, 1), (1, 2), (2, 3)]),
        ("(?U)a+?", "aaa", &[(0, 3)]),
        ("x*", "aXbX", &[(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]),
        ("|a", "aa", &[(0, 0), (1, 1), (2, 2)]),
        ("a|", "bab", &[(0, 0), (1, 2), (3, 3)]),
        ("^", "a\nb", &[(0, 0)]),
        ("(?m)^", "a\nb\n", &[(0, 0), (2, 2), (4, 4)]),
        ("$", "a\n", &[(2, 2)]),
        ("(?m)$", "a\n", &[(1, 1), (2, 2)]),
        (r"\z", "a\n", &[(2, 2)]),
        ("a.b", "a\nb", &[]),
        ("(?s)a.b", "a\nb", &[(0, 3)]),
        (r"\d+", "٣12", &[(2, 4)]),
        (r"\w+", "éa_1é", &[(2, 5)]),
        (r"\W", "é", &[(0, 2)]),
        (r"\b", "éa é", &[(2, 2), (3, 3)]),
        (r"\B", "é", &[(0, 0), (2, 2)]),
        (r"\Ba", "éa", &[]),
        (r"(?:\B|\W)", "bß0", &[(1, 3)]),
        (r"\s", "\x0b \u{a0}", &[(1, 2)]),
        ("[[:space:]]", "\x0b", &[(0, 1)]),
        ("(?i)k", "\u{212a}", &[(0, 3)]),
        ("(?i)ß", "ẞ", &[(0, 3)]),
        ("(?i)[s]", "ſ", &[(0, 2)]),
        (r"(?i)\w", "ſ", &[(0, 2)]),
        (r"(?i)\W", "ſ", &[]),
        ("(?i)É", "é", &[(0, 2)]),
        ("(?i)\u{19b}", "\u{a7dc}", &[]),
        (r"\p{Lu}+", "aÉB", &[(1, 4)]),
        (r"\p{greek}+", "xαβ", &[(1, 5)]),
        (r"\PL", "a1", &[(1, 2)]),
        (r"\p{^L}", "a1", &[(1, 2)]),
        (r"\P{^L}", "1a", &[(1, 2)]),
        (r"(?i)\p{Lu}", "a", &[(0, 1)]),
        (r"\p{Zl}", "\u{2028}", &[(0, 3)]),
        ("[^a]", "\n", &[(0, 1)]),
        (r"[^\x{d000}-\x{f000}]", "\u{d7ff}\u{e000}a", &[(6, 7)]),
        (r"[\x{d7ff}-\x{e000}]+", "\u{d7ff}\u{e000}a", &[(0, 6)]),
        (r"\x{1F600}", "😀", &[(0, 4)]),
        (r"\101\60", "A0", &[(0, 2)]),
        (r"\Qa.b\E+", "a.bb", &[(0, 4)]),
        ("(a|b)*?c", "abac", &[(0, 4)]),
        ("(|a)*", "aa", &[(0, 0), (1, 1), (2, 2)]),
        ("(|a)+", "aa", &[(0, 0), (1, 1), (2, 2)]),
        ("(a*)+", "b", &[(0, 0), (1, 1)]),
        ("(a|ab)(c|bcd)(d*)", "abcd", &[(0, 4)]),
        (r"[^\x00-\x{10FFFF}]", "a", &[]),
        ("", "é", &[(0, 0), (2, 2)]),
        ("a{0}", "a", &[(0, 0), (1, 1)]),
        ("a{2,3}?", "aaaa", &[(0, 2), (2, 4)]),
        ("[a-c-e]+", "a-ed", &[(0, 3)]),
        ("(?i:a)b", "Ab AB", &[(0, 2)]),
        ("a(?i)b|c", "aB C", &[(0, 2), (3, 4)]),
        ("(a(?i)b)c", "aBc aBC", &[(0, 3)]),
        (r"\pN", "Ⅷ", &[(0, 3)]),
        (".", "é", &[(0, 2)]),
        (r"\_\-", "_-", &[(0, 2)]),
        ("x{,2}", "x{,2}", &[(0, 5)]),
        ("[[:^alpha:]]+", "a1é", &[(1, 4)]),
    ];
    for (pattern, text, expected) in cases {
        let [automaton, patient, machine] = all(pattern);
        let work = Work::new(Some(&never));
        let many_times = Regex::deferred(pattern).unwrap();
        for (_, other, _) in cases {
            let is_match = machine.is_match(other);
            assert_eq!(
                many_times.is_match(other),
                is_match,
                "{pattern:?} {other:?}"
            );
        }
        let once = Regex::new(pattern).unwrap();
        for regex in [automaton, patient, machine, many_times, once] {
            let found: Vec<_> = regex
                .find_iter(text, &work)
                .map(|range| range.map(|range| (range.start, range.end)).unwrap())
                .collect();
            assert_eq!(found, *expected, "{pattern:?} {text:?}");
            assert_eq!(
                regex
                    .find(text, &work)
                    .unwrap()
                    .map(|range| (range.start, range.end)),
                expected.first().copied(),
                "{pattern:?}"
            );
            assert_eq!(
                regex.matches_within(text, &work).unwrap(),
                !expected.is_empty(),
                "{pattern:?} {text:?}"
            );
        }
    }
}

#[test]
fn captures_what_groups_match() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("(a)|(b)", "ba", &["0..1 - 0..1", "1..2 1..2 -"]),
        ("(a*)(b)?", "aab", &["0..3 0..2 2..3"]),
        ("((a)|b)*", "ab", &["0..2 1..2 0..1"]),
        (
            r"(?P<y>\d+)-(?:x)(\d)",
            "12-x3 4-x5",
            &["0..5 0..2 4..5", "6..10 6..7 9..10"],
        ),
        ("(a){0}(b)", "b", &["0..1 - 0..1"]),
        ("(b)(a){0}", "b", &["0..1 0..1 -"]),
        ("()", "é", &["0..0 0..0", "2..2 2..2"]),
        // Loops whose passes may be empty: which passes Go prefers.
        (
            r"((([^a])*?\b)*)",
            " 1c😀1Ks",
            &[
                "0..1 0..1 0..1 0..1",
                "2..3 2..3 2..3 2..3",
                "7..7 7..7 7..7 -",
                "8..10 8..10 8..10 9..10",
            ],
        ),
    ];
    for (pattern, text, expected) in cases {
        let print = |group: Option<Range<usize>>| {
            group.map_or("-".to_owned(), |range| format!("{range:?}"))
        };
        let work = Work::new(Some(&never));
        for regex in all(pattern) {
            let matches = regex.captures_iter(text, &work);
            let found = matches.map(|groups| {
                groups
                    .unwrap()
                    .into_iter()
                    .map(print)
                    .collect::<Vec<_>>()
                    .join(" ")
            });
            assert_eq!(found.collect::<Vec<_>>(), *expected, "{pattern:?} {text:?}");
        }
    }
}

#[test]
fn limits_nesting_as_go_does() {
    let groups = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    let stars = |depth: usize| format!("{}b{}", "(?:a".repeat(depth), ")*".repeat(depth));
    assert_eq!(error(&groups(999)), "none");
    let deep = groups(1000);
    assert_eq!(
        error(&deep),
        format!("error parsing regexp: expression nests too deeply: `{deep}`")
    );
    assert_eq!(error(&stars(500)), "none");
    assert!(error(&stars(501)).contains("nests too deeply"));
    // Non-capturing groups do not count as levels. Groups that are not closed fail with another error.
    assert_eq!(
        error(&format!("{}a{}", "(?:".repeat(5000), ")".repeat(5000))),
        "none"
    );
    assert!(error(&"(".repeat(100_000)).contains("missing closing )"));
}

#[test]
fn limits_size_as_go_does() {
    for piece in [r"\pL\pN", "ab", "[ab]c"] {
        assert_eq!(
            error(&format!("(?:{}){{1000}}", piece.repeat(1677))),
            "none"
        );
        assert!(
            error(&format!("(?:{}){{1000}}", piece.repeat(1678))).contains("expression too large")
        );
    }
}

#[test]
fn matches_with_deep_and_large_patterns() {
    for depth in [48, 49, 50, 499] {
        let stars = format!("^{}b{}$", "(?:a".repeat(depth), ")*".repeat(depth));
        let regex = Regex::new(&stars).unwrap();
        assert!(regex.is_match("aaa") && !regex.is_match("ba"), "{depth}");
    }
    let letters = Regex::new(r"^\pL{1,1000}$").unwrap();
    assert!(letters.is_match(&"é".repeat(1000)));
    assert!(!letters.is_match(&"é".repeat(1001)));
    let copies = Regex::new("^(?:abcdefghij){1000}$").unwrap();
    assert!(copies.is_match(&"abcdefghij".repeat(1000)));
    let short = "abcdefghij".repeat(999);
    assert_eq!(copies.find(&short, &Work::unbounded()), Ok(None));
}

/// Counts the calls of an interrupt that stops the search after `patience` calls.
fn checks_until_stopped(patience: usize, search: impl Fn(&Work<'_>) -> bool) -> usize {
    let checks = AtomicUsize::new(0);
    let interrupt = || checks.fetch_add(1, Ordering::Relaxed) >= patience;
    assert!(search(&Work::new(Some(&interrupt))), "it was stopped");
    checks.load(Ordering::Relaxed)
}

#[test]
fn searches_are_stopped_whatever_they_do() {
    let text = "ab".repeat(750_000);
    // The first pattern is too large for an automaton. In the second, each byte leads to a new state. The third has many matches, and
    // checks the interrupt between them.
    for pattern in [r"[ab]*a\pL{900}c", r"[ab]*a[ab]{300}c", "a.*c|a"] {
        let regex = Regex::new(pattern).unwrap();
        let matches = |work: &Work<'_>| regex.matches_within(&text, work).is_err();
        let finds = |work: &Work<'_>| regex.find_iter(&text, work).any(|found| found.is_err());
        if pattern != "a.*c|a" {
            assert_eq!(checks_until_stopped(3, matches), 4, "{pattern}");
        }
        assert_eq!(checks_until_stopped(3, finds), 4, "{pattern}");
    }
}

#[test]
fn long_patterns_are_not_read_to_their_end() {
    for pattern in ["ab".repeat(100_000), "[a-c]".repeat(50_000)] {
        let asks = checks_until_stopped(2, |work| {
            Regex::new_within(&pattern, work).is_err_and(|error| error.is_interrupted())
        });
        assert_eq!(asks, 3);
    }
}

#[test]
fn searches_of_long_texts_check_the_interrupt_by_bytes() {
    let text = "ab".repeat(50_000);
    for (pattern, most_bytes_between_checks) in [("^[ab]+$", 65_536), (r"[ab]*a[ab]{40}c", 10_000)]
    {
        let checks = AtomicUsize::new(0);
        let interrupt = || checks.fetch_add(1, Ordering::Relaxed) == usize::MAX;
        let work = Work::new(Some(&interrupt));
        let regex = Regex::new(pattern).unwrap();
        assert_eq!(
            regex.matches_within(&text, &work),
            Ok(!pattern.ends_with('c'))
        );
        let bytes = text.len() / checks.load(Ordering::Relaxed).max(1);
        assert!(bytes <= most_bytes_between_checks, "{pattern}: {bytes}");
    }
}

#[test]
fn is_shared_between_threads() {
    fn assert_shared<T: Send + Sync>() {}
    assert_shared::<Regex>();
}

#[test]
fn a_class_may_name_other_classes_many_times() {
    let many = format!("^[{}x-z]$", r"\pN".repeat(2_000));
    let regex = Regex::new(&many).unwrap();
    for (text, expected) in [("1", true), ("y", true), ("a", false)] {
        assert_eq!(regex.is_match(text), expected, "{text}");
    }
}
