#!/usr/bin/env python3
"""replace.py MODULES OVERLAY: removes declarations from copies of Kubernetes' packages, and adds Gavel's files to them.

The script fails if a declaration does not exist, for example because another version of Kubernetes has moved it.
"""
import re
import sys
from pathlib import Path

# For each package: Gavel's file, which is copied as gavel.go, and for each changed file the declarations to remove and the texts to replace.
PACKAGES = [
    ("apiextensions-apiserver/pkg/apiserver/schema/cel", "schema_cel.go", {
        "compilation.go": {
            "keep_functions": ["NewExpressionsEnvLoader", "StoredExpressionsEnvLoader", "RuleEnv", "MessageExpressionEnv"],
            "change": [("Program cel.Program", "Program *Expression"), ("MessageExpression cel.Program", "MessageExpression *Expression")],
        },
        "validation.go": {
            "keep_functions": ["WithRatcheting", "unescapeSingleQuote", "WithFieldPathAllowArrayNotation", "ValidFieldPath", "MapIsCorrelatable", "hasXValidations", "nestedToStructural"],
            "drop_types": ["Validator", "validationActivation"],
            "change": [],
        },
    }),
    ("apiserver/pkg/cel/environment", "environment.go", {}),
    ("apiserver/pkg/admission/plugin/cel", "admission_cel.go", {
        "compile.go": {
            "keep_functions": ["BuildRequestType", "BuildNamespaceType"],
            "drop_types": ["compiler", "variableDeclEnvs"],
            "change": [("\tProgram            cel.Program\n", "\tgavel              *expression\n"), (r"(?ms)^var hasPatchTypes = .*?^}\n", "")],
        },
        "composition.go": {
            "keep_functions": ["NewCompositedCompilerForTypeChecking", "Env", "CreateContext", "CompileAndStoreVariables", "CompileCondition", "CompileMutatingEvaluator",
                               "AddField", "ForInput", "convertCelTypeToDeclType"],
            "drop_types": ["variableAccessor"],
            "change": [("\t\tstate:   c,\n", ""), ("\tVariables(activation any) ref.Val\n\tGetAndResetCost() int64\n", ""), ("\n\tstate           *compositionState\n\taccumulatedCost int64\n", "")],
        },
        "condition.go": {"drop_functions": ["ForInput"], "change": []},
        "mutation.go": {"drop_functions": ["ForInput"], "change": []},
        "activation.go": {"keep_functions": [], "drop_types": ["evaluationActivation"], "change": []},
    }),
]

FUNCTION = re.compile(r"^((?://[^\n]*\n)*)func (?:\([^)]*\) )?(\w+)\(.*?^}\n", re.M | re.S)


def without_functions(text, how, place):
    names = [match.group(2) for match in FUNCTION.finditer(text)]
    for name in how.get("keep_functions", []) + how.get("drop_functions", []):
        if name not in names:
            sys.exit(f"{place}: there is no function {name}")
    keeps = (lambda name: name in how["keep_functions"]) if "keep_functions" in how else (lambda name: name not in how["drop_functions"])
    return FUNCTION.sub(lambda match: match.group(0) if keeps(match.group(2)) else "", text)


def without_types(text, how, place):
    for name in how.get("drop_types", []):
        text, count = re.subn(rf"(?ms)^(?://[^\n]*\n)*type {name} (?:struct {{.*?^}}|[^\n{{]*)\n", "", text)
        if count != 1:
            sys.exit(f"{place}: there is no type {name}")
    return text


def changed(text, how, place):
    for old, new in how["change"]:
        if old.startswith("(?"):
            text, count = re.subn(old, new, text)
        else:
            count, text = text.count(old), text.replace(old, new)
        if count != 1:
            sys.exit(f"{place}: {old!r} is there {count} times")
    return text


def without_unused_imports(text):
    head, imports, body = re.split(r"(?ms)^import \(\n(.*?)^\)\n", text, maxsplit=1)
    kept = []
    # A name that only occurs in comments is not used.
    body_code = re.sub(r"(?m)//.*$", "", body)
    for line in imports.splitlines():
        match = re.match(r'\t(?:(\w+) )?"([^"]+)"', line)
        if match:
            name = match.group(1) or re.sub(r"^go-", "", match.group(2).rsplit("/", 1)[-1])
            if name != "_" and not re.search(rf"\b{name}\.", body_code):
                continue
        kept.append(line)
    kept = "\n".join(kept)
    return f"{head}import (\n{kept}\n)\n{body}" if kept.strip() else head + body


def main():
    modules, overlay = map(Path, sys.argv[1:3])
    for package, ours, files in PACKAGES:
        folder = modules / package
        for name, how in files.items():
            path = folder / name
            text = path.read_text()
            if (folder / "gavel.go").exists():
                continue
            for step in (without_functions, without_types, changed):
                text = step(text, how, path)
            path.write_text(without_unused_imports(text))
        (folder / "gavel.go").write_text((overlay / ours).read_text())


main()
