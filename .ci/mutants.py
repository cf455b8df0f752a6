#!/usr/bin/env python3
"""Mutate the requests of recordings, one request per line.

    mutants.py --seed 1 --count 1000 ../shared/golden/policies.ndjson.gz ... > requests.ndjson
    python3 ../shared/tools/differential.py --requests requests.ndjson

A mutation wraps an expression or a part of it in a call, replaces a literal, an operator or a name, or joins two expressions.
In the rest of a request, a mutation removes a value, repeats it, or replaces it by another one of the same type: by a constant,
or by the value of the same key in another recording. `--server` names the API server that must answer. Answers about requests
that cannot be read differ: Gavel has its own texts, and requires fields that an API server always sends. The same seed always
gives the same requests.
"""
import argparse
import collections
import copy
import gzip
import json
import random
import re

EXPRESSIONS = {"expr", "rule", "expression", "messageExpression", "valueExpression"}
# Keys that say which question is asked.
FIXED = {"id", "op", "server", "k8sVersion", "mode", "env", "disableMacros", "disableCheck", "repeat"}
TOKEN = re.compile(r"""[rbRB]*'(?:\\.|[^'\\])*'|[rbRB]*"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|\d+\.\d+|\d+u?|&&|\|\||[=!<>]=|\.\?|\[\?|\s+|.""", re.S)
OPERATORS = ["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "in"]
LITERALS = ["0", "-1", "1u", "1.5", "''", "'a'", "b'a'", "'é😀'", "null", "true", "[]", "{}", "['a']", "{'a': 1}", "[[1], []]", "9223372036854775807",
            "18446744073709551615u", "1e300", "'2024-01-01T00:00:00Z'", "'1h'", "'1Gi'", "dyn(1)", "optional.of(1)", "optional.none()", "type(1)", "ip('::1')"]
WRAPPERS = ["dyn(%s)", "string(%s)", "int(%s)", "double(%s)", "bytes(%s)", "type(%s)", "size(%s)", "-(%s)", "!(%s)", "[%s]", "{'a': %s}", "{%s: 1}",
            "optional.of(%s)", "optional.ofNonZeroValue(%s)", "(%s) == (%s)", "(%s) in [%s]", "(%s) ? 1 : 2", "true ? (%s) : (%s)", "(%s) + (%s)",
            "(%s) && true", "[%s].map(x, x)", "[%s].exists(x, x == x)", "[%s].all(i, x, x == (%s))", "[%s].distinct()", "[%s].sort()", "[%s].min()",
            "[%s].sum()", "cel.bind(v, %s, [v, v])", "sets.contains([%s], [%s])", "timestamp(%s)", "duration(%s)", "quantity(%s)", "(%s)[0]", "(%s).a",
            "(%s).?a", "(%s)[?0].orValue(%s)", "has((%s).a)", "(%s).matches('a')", "(%s).getHours()", "math.greatest([%s, %s])"]
VALUES = [0, 1, -1, 2**63 - 1, 1e20, 1.5, True, False, "", "a", "1", "*", "-", "é", "a" * 64, "x y", "2024-01-01T00:00:00Z", "1h", "1Gi",
          [], {}, ["a", "a"], [None], {"a": "b"}, {"a": None}, {"type": "string"}]


class Mutants:
    def __init__(self, rng, requests):
        self.rng = rng
        self.requests = requests
        self.known = collections.defaultdict(list)
        for request in requests:
            for key, value in ((key, parent[key]) for parent, key in self.places(request)):
                self.known[key if isinstance(key, str) else ""].append(value)
        self.expressions = [text for key in sorted(EXPRESSIONS) for text in self.known[key] if isinstance(text, str)]

    def places(self, node, depth=0):
        """Every place of a request as a container and a key."""
        keys = node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        for key in keys:
            if depth > 0 or key not in FIXED:
                yield node, key
                yield from self.places(node[key], depth + 1)

    def wrapped(self, text):
        return self.rng.choice(WRAPPERS).replace("%s", text)

    def expression(self, text):
        tokens = TOKEN.findall(text)
        how = self.rng.random()
        if how < 0.25:
            return self.wrapped(text)
        if how < 0.4:
            return "(%s) %s (%s)" % (text, self.rng.choice(OPERATORS), self.rng.choice(self.expressions))
        pattern, other = self.rng.choice([
            (r"[\w'\"]", self.wrapped),
            (r"[\d'\"]|true$|false$|null$", lambda _: self.rng.choice(LITERALS)),
            (r"[A-Za-z_]", lambda _: self.rng.choice(re.findall(r"\w+", self.rng.choice(self.expressions)) or ["x"])),
            (r"[-+*/%<>]|[=!<>]=|&&|\|\||in$", lambda _: self.rng.choice(OPERATORS)),
        ])
        found = [n for n, token in enumerate(tokens) if re.match(pattern, token)]
        if found:
            place = self.rng.choice(found)
            tokens[place] = other(tokens[place])
        return "".join(tokens)

    def mutate(self, request):
        places = list(self.places(request))
        expressions = [(parent, key) for parent, key in places if key in EXPRESSIONS and isinstance(parent[key], str)]
        if expressions and (request["op"] == "eval" or self.rng.random() < 0.5):
            parent, key = self.rng.choice(expressions)
            parent[key] = self.expression(parent[key])
            return
        parent, key = self.rng.choice(places)
        how = self.rng.random()
        if how < 0.2:
            del parent[key]
        elif how < 0.3 and isinstance(parent, list):
            parent.append(copy.deepcopy(parent[key]))
        else:
            # Another type would only show that a request cannot be read.
            others = self.known[key] if how < 0.7 and isinstance(key, str) else VALUES
            others = [other for other in others if type(other) is type(parent[key])]
            if others:
                parent[key] = copy.deepcopy(self.rng.choice(others))

    def mutant(self):
        request = copy.deepcopy(self.rng.choice(self.requests))
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            if any(True for _ in self.places(request)):
                self.mutate(request)
        return request


def recorded(paths):
    """The requests of recordings. A definition that a request names by its id is put into the request."""
    definitions = {}
    for path in paths:
        for line in gzip.open(path, "rt", encoding="utf-8"):
            request = json.loads(line)["request"]
            if request["op"] == "crd":
                definitions[request.get("id")] = request.get("crd")
            elif isinstance(request.get("crd"), str):
                request["crd"] = definitions.get(request["crd"])
            yield request


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--count", type=int, default=1000)
    ap.add_argument("--server", help="the API server that must answer, such as 1.34")
    ap.add_argument("recordings", nargs="+")
    args = ap.parse_args()
    mutants = Mutants(random.Random(args.seed), list(recorded(args.recordings)))
    for n in range(args.count):
        request = mutants.mutant()
        request["id"] = "%d/%d" % (args.seed, n)
        if args.server:
            request["server"] = args.server
        print(json.dumps(request, ensure_ascii=False))


if __name__ == "__main__":
    main()
