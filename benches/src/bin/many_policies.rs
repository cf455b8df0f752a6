//! Measures a decision and the memory with 1 to 100,000 policies: `cargo run --release -p gavel-benches --bin many_policies`. Prints a table,
//! and draws it as `docs/many-policies.svg`.
//!
//! All policies have different rules. In the first series, one policy matches the request, and all others match other resources. In the
//! second series, all policies match the request.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark panics if an input is invalid, and prints its results"
)]

use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use gavel_benches::policies::{binding, index, request};
use gavel_engine::value::Arena;
use gavel_policy::{Options, PolicyIndex, dispatch};
use serde_json::{Value as Json, json};

/// The numbers of policies.
const COUNTS: [usize; 6] = [1, 10, 100, 1_000, 10_000, 100_000];

/// The number of resources over which the policies that do not match pods are spread.
const OTHER_RESOURCES: usize = 1_000;

/// The shortest duration of a measurement.
const SHORTEST: Duration = Duration::from_millis(20);

/// The measurements for one number of policies.
struct Row {
    count: usize,
    /// The time of a decision if one policy matches the request, in microseconds.
    one_matches: f64,
    /// The time of a decision if all policies match the request, in microseconds.
    all_match: f64,
    /// The memory of the policies and bindings, in megabytes.
    memory: f64,
}

fn main() {
    let arena = Arena::new();
    let request = request(&arena);
    let time = |index: &PolicyIndex| {
        let snapshot = index.snapshot();
        microseconds(|| {
            let decision = dispatch(&snapshot, black_box(&request), &Options::default());
            assert_eq!(decision.denials, []);
        })
    };
    // A process creates the environments only once, so this memory is not counted.
    drop(policies(1, 1));
    println!("| policies | one matches | all match | memory |\n|--:|--:|--:|--:|");
    let rows = COUNTS.map(|count| {
        let mut built = None;
        let counted = allocation_counter::measure(|| built = Some(policies(count, 1)));
        let one_matches = time(&built.take().expect("an index"));
        let row = Row {
            count,
            one_matches,
            all_match: time(&policies(count, count)),
            memory: counted.bytes_current as f64 / 1e6,
        };
        println!(
            "| {count} | {:.2} µs | {:.2} µs | {:.2} MB |",
            row.one_matches, row.all_match, row.memory
        );
        row
    });
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/many-policies.svg");
    std::fs::write(path, drawing(&rows)).expect("a file that can be written");
}

/// An index of `count` policies, of which `matching` match pods.
fn policies(count: usize, matching: usize) -> PolicyIndex {
    let objects = (0..count).flat_map(|n| {
        let name = format!("policy-{n}");
        let resource = match n < matching {
            true => "pods".to_owned(),
            false => format!("things{}", n % OTHER_RESOURCES),
        };
        [policy(&name, &resource, n), binding(&name, &name, None)]
    });
    index(objects.collect())
}

fn policy(name: &str, resource: &str, n: usize) -> Json {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": [resource]}
            ]},
            "validations": [
                {"expression": format!("object.spec.containers.all(c, !has(c.ports) || c.ports.size() <= {})", n.saturating_add(5))}
            ],
        },
    })
}

/// The median time of a call over five measurements, in microseconds.
fn microseconds(mut call: impl FnMut()) -> f64 {
    call();
    let mut calls = 1_u32;
    let mut measured = |calls: u32| {
        let began = Instant::now();
        (0..calls).for_each(|_| call());
        began.elapsed()
    };
    while measured(calls) < SHORTEST {
        calls = calls.saturating_mul(2);
    }
    let mut times = [(); 5].map(|()| measured(calls).as_secs_f64() * 1e6 / f64::from(calls));
    times.sort_by(f64::total_cmp);
    let [_, _, median, ..] = times;
    median
}

/// The drawing: the time of a decision on the left, the memory on the right. All axes are logarithmic.
fn drawing(rows: &[Row]) -> String {
    let time = Panel {
        left: 70.0,
        title: "Time of a decision",
        lowest: -1,
        labels: &[
            "0.1 µs", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s",
        ],
    };
    let memory = Panel {
        left: 450.0,
        title: "Memory of the policies",
        lowest: -3,
        labels: &["1 KB", "10 KB", "100 KB", "1 MB", "10 MB", "100 MB", "1 GB"],
    };
    let of = |value: fn(&Row) -> f64| -> Vec<(f64, f64)> {
        let points = rows.iter().map(|row| (row.count as f64, value(row)));
        points.collect()
    };
    let mut svg = HEAD.to_owned();
    time.draw(&mut svg);
    time.line(&mut svg, "all", "all match", &of(|row| row.all_match));
    time.line(&mut svg, "one", "one matches", &of(|row| row.one_matches));
    memory.draw(&mut svg);
    memory.line(&mut svg, "one", "", &of(|row| row.memory));
    svg.push_str("</svg>\n");
    svg
}

const HEAD: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 300" width="780" height="300" role="img" font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif" font-size="12">
  <title>The time of a decision and the memory with 1 to 100,000 policies</title>
  <style>
    .panel { fill: #fbfbfd; stroke: #d4d7de } .grid { stroke: #e3e6ec } .text { fill: #1f2430 } .faint { fill: #4b5563 }
    .one { stroke: #2f5fb3; fill: #2f5fb3 } .all { stroke: #b3592f; fill: #b3592f }
    @media (prefers-color-scheme: dark) {
      .panel { fill: #1b1e2b; stroke: #3a4055 } .grid { stroke: #2f3548 } .text { fill: #e6e9f2 } .faint { fill: #b4bccd }
      .one { stroke: #6ea0f0; fill: #6ea0f0 } .all { stroke: #f0a06e; fill: #f0a06e }
    }
  </style>
  <rect x="0.5" y="0.5" width="779" height="299" rx="10" class="panel"/>
"#;

/// The width and the height of a diagram, and its distance from the top, in pixels.
const WIDTH: f64 = 290.0;
const HEIGHT: f64 = 200.0;
const TOP: f64 = 50.0;

/// A diagram over the number of policies.
struct Panel<'p> {
    /// The position of the vertical axis.
    left: f64,
    title: &'p str,
    /// The exponent of the power of ten at the bottom of the vertical axis.
    lowest: i32,
    /// The labels of the powers of ten, from the bottom.
    labels: &'p [&'p str],
}

impl Panel<'_> {
    fn x(&self, count: f64) -> f64 {
        self.left + WIDTH * count.log10() / 5.0
    }

    fn y(&self, value: f64) -> f64 {
        let steps = self.labels.len().saturating_sub(1) as f64;
        TOP + HEIGHT * (1.0 - (value.log10() - f64::from(self.lowest)) / steps)
    }

    /// Draws the title, the grid and the labels.
    fn draw(&self, svg: &mut String) {
        let (left, right, middle) = (self.left, self.left + WIDTH, self.left + WIDTH / 2.0);
        let bottom = TOP + HEIGHT;
        let title = self.title;
        // Writing to a String does not fail.
        let _ = writeln!(
            svg,
            r#"  <text x="{left}" y="28" class="text" font-size="14" font-weight="600">{title}</text>"#
        );
        for (power, label) in (self.lowest..).zip(self.labels) {
            let y = self.y(10_f64.powi(power));
            let _ = writeln!(
                svg,
                r#"  <path d="M{left} {y:.1}H{right}" class="grid"/><text x="{:.1}" y="{:.1}" class="faint" text-anchor="end">{label}</text>"#,
                left - 6.0,
                y + 4.0
            );
        }
        for (count, label) in COUNTS
            .iter()
            .zip(["1", "10", "100", "1,000", "10,000", "100,000"])
        {
            let x = self.x(*count as f64);
            let _ = writeln!(
                svg,
                r#"  <path d="M{x:.1} {TOP}V{bottom}" class="grid"/><text x="{x:.1}" y="{:.1}" class="faint" text-anchor="middle">{label}</text>"#,
                bottom + 16.0
            );
        }
        let _ = writeln!(
            svg,
            r#"  <text x="{middle:.1}" y="{:.1}" class="faint" text-anchor="middle">policies</text>"#,
            bottom + 34.0
        );
    }

    /// Draws a line through points, with a label at its end.
    fn line(&self, svg: &mut String, class: &str, label: &str, points: &[(f64, f64)]) {
        let at = |&(count, value): &(f64, f64)| (self.x(count), self.y(value));
        let path: Vec<String> = points
            .iter()
            .map(|point| {
                let (x, y) = at(point);
                format!("{x:.1} {y:.1}")
            })
            .collect();
        let _ = writeln!(
            svg,
            r#"  <g class="{class}"><path d="M{}" fill="none" stroke-width="2"/>"#,
            path.join("L")
        );
        for point in points {
            let (x, y) = at(point);
            let _ = write!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3"/>"#);
        }
        if let Some((x, y)) = points.last().map(at) {
            let _ = write!(
                svg,
                r#"<text x="{:.1}" y="{:.1}" text-anchor="end" stroke="none">{label}</text>"#,
                x - 4.0,
                y - 8.0
            );
        }
        svg.push_str("</g>\n");
    }
}
