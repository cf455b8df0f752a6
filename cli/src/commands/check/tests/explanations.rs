//! Tests of `gavel check --explain`.

use gavel_engine::value::Json;

use super::{POLICY, deployment, folder, gavel, mutating_policy};
use crate::commands::tests::TestFolder;

#[test]
fn an_explanation_shows_the_values_of_expressions() {
    let (_, out) = gavel(&folder(), &["./policies", "./web.yaml", "--explain"]);
    for line in [
        "  policy replicas: matches\n",
        "    binding bound: matches\n",
        "      params default/limits\n",
        "      match condition !request.userInfo.username.startsWith('system:') = true\n",
        "      variables.max = 5    # int(params.data.max)\n",
        "      validation object == null || object.spec.replicas <= variables.max = false\n",
        "      validations[0] is false: at most 5 replicas\n",
        "          object == null = false\n",
        "          object.spec.replicas <= variables.max = false\n",
        "            object.spec.replicas = 7\n",
        "            variables.max = 5\n",
    ] {
        assert!(out.contains(line), "{line}\n{out}");
    }
}

#[test]
fn an_explanation_begins_with_the_object() {
    let folder = folder().with("small.yaml", &deployment("web", 1));
    let (_, out) = gavel(&folder, &["./policies", "./small.yaml", "--explain"]);
    assert!(
        out.starts_with("small.yaml:1: Deployment/web: admitted\n  policy"),
        "{out}"
    );
}

#[test]
fn an_explanation_of_mutations_shows_values_and_patches() {
    let policy = |name: &str, mutations: &str| {
        let variables = "  variables:\n  - {name: team, expression: \"'a' + 'b'\"}";
        let spec =
            format!("  reinvocationPolicy: IfNeeded\n{variables}\n  mutations:\n{mutations}");
        mutating_policy(name, &spec)
    };
    let configuration = "  - patchType: ApplyConfiguration
    applyConfiguration: {expression: \"Object{data: {'team': variables.team}}\"}";
    let patch = "  - patchType: JSONPatch
    jsonPatch: {expression: \"[JSONPatch{op: 'add', path: '/data/n', value: '1'}]\"}";
    let policies = policy("one", configuration) + &policy("two", patch);
    let folder = TestFolder::new().with("policies.yaml", &policies).with(
        "map.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
    );
    let (_, out) = gavel(&folder, &["./policies.yaml", "./map.yaml", "--explain"]);
    let expected = "\
map.yaml:1: ConfigMap/a: admitted
  policy one: matches
    binding one: matches
  policy two: matches
    binding two: matches
  mutation by policy one, binding one
      variables.team = \"ab\"    # 'a' + 'b'
      apply configuration Object{data: {'team': variables.team}} = Object{data: {\"team\": \"ab\"}}
      patch: {\"op\":\"add\",\"path\":\"/data\",\"value\":{\"team\":\"ab\"}}
  mutation by policy two, binding two
      JSON patch [JSONPatch{op: 'add', path: '/data/n', value: '1'}] = [JSONPatch{op: \"add\", path: \"/data/n\", value: \"1\"}]
      patch: {\"op\":\"add\",\"path\":\"/data/n\",\"value\":\"1\"}
  policy one: matches
    binding one: matches
  policy two: matches
    binding two: matches
  reinvocation by policy one, binding one
      variables.team = \"ab\"    # 'a' + 'b'
      apply configuration Object{data: {'team': variables.team}} = Object{data: {\"team\": \"ab\"}}
      patch: no change
  reinvocation by policy two, binding two
      JSON patch [JSONPatch{op: 'add', path: '/data/n', value: '1'}] = [JSONPatch{op: \"add\", path: \"/data/n\", value: \"1\"}]
      patch: no change
";
    assert_eq!(out, expected);
    let args = ["./policies.yaml", "./map.yaml", "--explain", "-o", "json"];
    let (_, out) = gavel(&folder, &args);
    let line: Json = serde_json::from_str(&out).unwrap();
    let steps = line["steps"].as_array().unwrap().iter();
    let patches: Vec<(&Json, usize)> = steps
        .filter_map(|step| Some((&step["reinvocation"], step["patch"].as_array()?.len())))
        .collect();
    let (no, yes) = (Json::from(false), Json::from(true));
    assert_eq!(patches, [(&no, 1), (&no, 1), (&yes, 0), (&yes, 0)]);
}

#[test]
fn an_explanation_shows_which_mutating_policies_are_not_reinvoked_and_which_fail() {
    let policy = |name: &str, reinvocation: &str, condition: &str, operation: &str| {
        let spec = format!(
            "  failurePolicy: Ignore
  reinvocationPolicy: {reinvocation}
  matchConditions: [{{name: c, expression: {condition}}}]
  mutations:
  - patchType: JSONPatch
    jsonPatch: {{expression: \"[JSONPatch{{{operation}, value: 'b'}}]\"}}"
        );
        mutating_policy(name, &spec)
    };
    let policies = [
        policy(
            "first",
            "Never",
            "has(object.data)",
            "op: 'add', path: '/data/a'",
        ),
        policy(
            "broken",
            "IfNeeded",
            "'!has(object.data.b)'",
            "op: 'replace', path: '/data/x/y'",
        ),
        policy(
            "last",
            "IfNeeded",
            "has(object.data)",
            "op: 'add', path: '/data/b'",
        ),
    ];
    let folder = TestFolder::new().with("policies.yaml", &policies.concat());
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {c: d}\n";
    let folder = folder.with("map.yaml", map);
    let (_, out) = gavel(&folder, &["./policies.yaml", "./map.yaml", "--explain"]);
    let lines = out.lines().filter(|line| !line.contains("matches"));
    let lines: Vec<&str> = lines.collect();
    let expected = "\
map.yaml:1: ConfigMap/a: admitted
  mutation by policy broken, binding broken
      match condition !has(object.data.b) = true
      JSON patch [JSONPatch{op: 'replace', path: '/data/x/y', value: 'b'}] = [JSONPatch{op: \"replace\", path: \"/data/x/y\", value: \"b\"}]
      patch: no change
  mutation by policy first, binding first
      match condition has(object.data) = true
      JSON patch [JSONPatch{op: 'add', path: '/data/a', value: 'b'}] = [JSONPatch{op: \"add\", path: \"/data/a\", value: \"b\"}]
      patch: {\"op\":\"add\",\"path\":\"/data/a\",\"value\":\"b\"}
  mutation by policy last, binding last
      match condition has(object.data) = true
      JSON patch [JSONPatch{op: 'add', path: '/data/b', value: 'b'}] = [JSONPatch{op: \"add\", path: \"/data/b\", value: \"b\"}]
      patch: {\"op\":\"add\",\"path\":\"/data/b\",\"value\":\"b\"}
  policy broken, binding broken: failed, and ignored: JSON Patch: replace operation does not apply: doc is missing path: /data/x/y: missing value
  reinvocation by policy broken, binding broken
      match condition !has(object.data.b) = false
      not evaluated: the match condition \"c\" is false
  reinvocation by policy last, binding last
      match condition has(object.data) = true
      JSON patch [JSONPatch{op: 'add', path: '/data/b', value: 'b'}] = [JSONPatch{op: \"add\", path: \"/data/b\", value: \"b\"}]
      patch: no change";
    assert_eq!(lines.join("\n"), expected);
}

#[test]
fn an_explanation_names_the_key_that_was_meant() {
    let policy = POLICY.replace("object.spec.replicas <=", "object.spec.replica <=");
    let folder = folder().with("policies/policy.yaml", &policy);
    let (_, out) = gavel(&folder, &["./policies", "./web.yaml", "--explain"]);
    let expected = "<= variables.max = error: no such key: replica; did you mean `replicas`?\n";
    assert!(out.contains(expected), "{out}");
}
