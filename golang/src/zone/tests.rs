use super::*;

#[test]
fn reads_offsets_by_cel_go_rule() {
    let cases = [
        ("00:00", Ok(0)),
        ("01:00", Ok(3600)),
        ("+01:00", Ok(3600)),
        ("-01:00", Ok(-3600)),
        ("-03:30", Ok(-12600)),
        ("-00:30", Ok(-1800)),
        ("+25:00", Ok(90000)),
        ("5:-30", Ok(16200)),
        ("-5:-30", Ok(-16200)),
        (
            "1:2:3",
            Err("strconv.Atoi: parsing \"2:3\": invalid syntax"),
        ),
        (":", Err("strconv.Atoi: parsing \"\": invalid syntax")),
        ("a:b", Err("strconv.Atoi: parsing \"a\": invalid syntax")),
        ("1:", Err("strconv.Atoi: parsing \"\": invalid syntax")),
        ("1:b", Err("strconv.Atoi: parsing \"b\": invalid syntax")),
        (" 1:00", Err("strconv.Atoi: parsing \" 1\": invalid syntax")),
        ("2562047:00", Ok(9223369200)),
        ("2562048:00", Ok(-9223371273)),
        ("-9999999999999999:7", Ok(-8742056063)),
        ("9223372036854775807:0", Ok(-3600)),
        (
            "99999999999999999999:0",
            Err("strconv.Atoi: parsing \"99999999999999999999\": value out of range"),
        ),
        ("0:9223372036854775807", Ok(-60)),
    ];
    for (text, expected) in cases {
        let actual = Zone::parse(text)
            .map(|zone| zone.offset_at(0))
            .map_err(|error| error.to_string());
        assert_eq!(actual, expected.map_err(str::to_owned), "{text:?}");
    }
}

#[test]
fn knows_the_names_of_the_database_in_their_case() {
    let cases = [
        ("", None),
        ("UTC", None),
        ("Local", None),
        ("Europe/Paris", None),
        ("EST5EDT", None),
        ("Factory", None),
        ("bogus", Some("unknown time zone bogus")),
        ("utc", Some("unknown time zone utc")),
        ("europe/paris", Some("unknown time zone europe/paris")),
        ("Europe/Pari", Some("unknown time zone Europe/Pari")),
        ("Etc/Unknown", Some("unknown time zone Etc/Unknown")),
        ("GMT+1", Some("unknown time zone GMT+1")),
        ("Z", Some("unknown time zone Z")),
        ("..", Some("time: invalid location name")),
        ("Europe/../UTC", Some("time: invalid location name")),
        ("/UTC", Some("time: invalid location name")),
        ("\\UTC", Some("time: invalid location name")),
    ];
    for (name, expected) in cases {
        let actual = Zone::parse(name).err().map(|error| error.to_string());
        assert_eq!(actual.as_deref(), expected, "{name:?}");
    }
}

#[test]
fn names_are_paths_as_on_linux() {
    let long = "a".repeat(256);
    let longest = "a/".repeat(2038);
    let cases = [
        ("./UTC", None),
        ("Europe//Paris", None),
        ("America/./Argentina/Ushuaia", None),
        ("Europe", Some("is a directory")),
        ("America/Argentina/", Some("is a directory")),
        (".", Some("is a directory")),
        ("UTC/x", Some("not a directory")),
        ("Europe/Paris/", Some("not a directory")),
        ("Europe/Paris\0", Some("invalid argument")),
        (long.as_str(), Some("file name too long")),
        (longest.as_str(), Some("file name too long")),
        ("./utc", Some("unknown time zone ./utc")),
    ];
    for (name, expected) in cases {
        let actual = Zone::parse(name).err().map(|error| error.to_string());
        assert_eq!(actual.as_deref(), expected, "{name:?}");
    }
}

#[test]
fn finds_offsets_as_go_does() {
    let cases = [
        ("Europe/Paris", -62135596800, 561),
        ("Europe/Paris", 0, 3600),
        ("Europe/Paris", 1600000000, 7200),
        ("Europe/Paris", 253402300799, 3600),
        ("America/New_York", -62135596800, -17762),
        ("America/New_York", 0, -18000),
        ("America/New_York", 1600000000, -14400),
        ("America/New_York", 253402300799, -18000),
        ("Asia/Kolkata", -62135596800, 21208),
        ("Asia/Kolkata", 0, 19800),
        ("Asia/Kolkata", 1600000000, 19800),
        ("Asia/Kolkata", 253402300799, 19800),
        ("Australia/Lord_Howe", -62135596800, 38180),
        ("Australia/Lord_Howe", 0, 36000),
        ("Australia/Lord_Howe", 1600000000, 37800),
        ("Australia/Lord_Howe", 253402300799, 39600),
        ("America/St_Johns", -62135596800, -12652),
        ("America/St_Johns", 0, -12600),
        ("America/St_Johns", 1600000000, -9000),
        ("America/St_Johns", 253402300799, -12600),
        ("Etc/GMT+1", -62135596800, -3600),
        ("Etc/GMT+1", 0, -3600),
        ("Etc/GMT+1", 1600000000, -3600),
        ("Etc/GMT+1", 253402300799, -3600),
        ("EST5EDT", -62135596800, -18000),
        ("EST5EDT", 0, -18000),
        ("EST5EDT", 1600000000, -14400),
        ("EST5EDT", 253402300799, -18000),
        ("Pacific/Apia", -62135596800, 45184),
        ("Pacific/Apia", 0, -39600),
        ("Pacific/Apia", 1600000000, 46800),
        ("Pacific/Apia", 253402300799, 46800),
        ("Europe/Dublin", -62135596800, -1521),
        ("Europe/Dublin", 0, 3600),
        ("Europe/Dublin", 1600000000, 3600),
        ("Europe/Dublin", 253402300799, 0),
        ("US/Central", -62135596800, -21036),
        ("US/Central", 0, -21600),
        ("US/Central", 1600000000, -18000),
        ("US/Central", 253402300799, -21600),
    ];
    for (name, unix_seconds, expected) in cases {
        assert_eq!(
            Zone::parse(name).unwrap().offset_at(unix_seconds),
            expected,
            "{name} {unix_seconds}"
        );
    }
}
