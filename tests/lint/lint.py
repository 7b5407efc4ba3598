#!/usr/bin/env python3
"""lint.py ROOT RULE - check one rule of the tree; one line a violation; exit 0, 1, or 77 (skipped).

Rules are functions from a Tree to a list of violations, in the table RULES.  selftest.py proves for
each that it can fail.
"""
import fnmatch
import os
import re
import shutil
import subprocess
import sys

LINES_MAX = 70
COLUMNS_MAX = 100
CORE = ("config", "patterns", "verify", "sim")
CODE = CORE + ("tests",)
BANNED = ("strcpy strcat sprintf vsprintf gets strtok atoi atol atoll atof alloca rand srand"
          .split())
# Allowed includes between folders; patterns may see the option contract only.
ALLOWED = {
    "config": {"config"},
    "patterns": {"patterns"},
    "verify": {"verify"},
    "sim": {"sim", "patterns", "config", "verify"},
    "tests": {"tests", "sim", "patterns", "config", "verify"},
}
ALLOWED_HEADERS = {"patterns": {"config/opt.h"}}
STATE_MARK = "lint: mutable"  # in a comment on the line or the one above, with the reason


class Skip(Exception):
    """The rule cannot be checked on this machine."""


class Tree:
    """The source files below a root, by path relative to it."""

    def __init__(self, root):
        self.root = root
        self.paths = []
        for folder, folders, names in os.walk(root):
            top = folder == root
            folders[:] = [f for f in sorted(folders)
                          if f not in (".git", "__pycache__", "corpus")
                          and not (top and f not in CODE + ("samples", ".ci"))]
            self.paths += [os.path.relpath(os.path.join(folder, n), root) for n in sorted(names)]

    def text(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read()

    def exists(self, path):
        return os.path.exists(os.path.join(self.root, path))

    def files(self, *ends, folders=CODE):
        return [p for p in self.paths if p.endswith(ends) and p.split(os.sep)[0] in folders]


def without_comments(text, strings_too=True):
    """The text with comments (and the contents of literals) blanked; line numbers stay."""
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''

    def blank(match):
        found = match.group(0)
        if found[0] in "\"'":
            return found[0] * 2 if strings_too else found
        return "\n" * found.count("\n") or " "

    return re.sub(pattern, blank, text, flags=re.S)


def includes_of(tree, path):
    """(line number, quoted name) of each include that is not a system header."""
    for number, line in enumerate(without_comments(tree.text(path), False).split("\n"), 1):
        match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if match:
            yield number, match.group(1)


def rule_includes(tree):
    bad = []
    for path in tree.files(".c", ".h"):
        folder = path.split("/")[0]
        for number, name in includes_of(tree, path):
            target = name.split("/")[0]
            if folder == "tests" and tree.exists(os.path.join(os.path.dirname(path), name)):
                continue  # a fixture beside its test
            if not tree.exists(name):
                bad.append(f"{path}:{number}: \"{name}\" is not rooted at the top of the tree")
            elif target not in ALLOWED[folder] and name not in ALLOWED_HEADERS.get(folder, ()):
                bad.append(f"{path}:{number}: {folder}/ may not include {name}")
    return bad


def layers(tree):
    groups = []
    for line in tree.text("tests/lint/layers.txt").split("\n"):
        words = line.split("#")[0].split()
        if words:
            groups.append(words)
    return groups


def layer_of(groups, path):
    """Index of the group; an exact name beats a pattern, None when the file is in no group.

    Lists (.def) are data without includes: they stand below everything.
    """
    if path.endswith(".def"):
        return 0
    stem = os.path.basename(path).split(".")[0]
    for index, group in enumerate(groups):
        if stem in group:
            return index
    for index, group in enumerate(groups):
        if any(fnmatch.fnmatch(stem, word) for word in group):
            return index
    return None


def rule_layers(tree):
    groups = layers(tree)
    bad = []
    for path in tree.files(".c", ".h", ".def", folders=("sim",)):
        mine = layer_of(groups, path)
        if mine is None:
            bad.append(f"{path}: in no group of tests/lint/layers.txt")
            continue
        for number, name in includes_of(tree, path):
            if not name.startswith("sim/"):
                continue
            other = layer_of(groups, name)
            if other is not None and other > mine:
                bad.append(f"{path}:{number}: includes {name}, which stands above it in "
                           "tests/lint/layers.txt")
    return bad


def functions_of(text):
    """(first line, last line) of each function: a brace alone in column 0 opens it."""
    lines = text.split("\n")
    start = None
    for index, line in enumerate(lines):
        if line == "{":
            start = index
            while start > 0 and re.match(r"[A-Za-z_ ]", lines[start - 1]):
                start -= 1
        elif line.startswith("}") and start is not None:
            yield start + 1, index + 1
            start = None


def rule_functions(tree):
    bad = []
    for path in tree.files(".c", ".h"):
        for first, last in functions_of(tree.text(path)):
            if last - first + 1 > LINES_MAX:
                bad.append(f"{path}:{first}: function of {last - first + 1} lines "
                           f"(at most {LINES_MAX})")
    return bad


def rule_columns(tree):
    bad = []
    for path in tree.files(".c", ".h", ".sh", ".py", ".awk", "CMakeLists.txt"):
        for number, line in enumerate(tree.text(path).split("\n"), 1):
            if len(line) > COLUMNS_MAX:
                bad.append(f"{path}:{number}: {len(line)} columns (at most {COLUMNS_MAX})")
    return bad


def rule_banned(tree):
    pattern = re.compile(r"(?<![\w.>])(" + "|".join(BANNED) + r")\s*\(")
    bad = []
    for path in tree.files(".c", ".h"):
        for number, line in enumerate(without_comments(tree.text(path)).split("\n"), 1):
            for match in pattern.finditer(line):
                bad.append(f"{path}:{number}: {match.group(1)}() is banned")
    return bad


def declarations_of(text):
    """(line, text) of each declaration: at file scope all, inside functions the static ones.

    Braces of initialisers and of type definitions are left out of the text, as "{}".
    """
    depth, statement, line, start, in_function = 0, "", 1, 1, False
    for char in text:
        if char == "\n":
            line += 1
        if char == "{":
            if depth == 0:
                in_function = "=" not in statement and statement.rstrip().endswith(")")
            depth += 1
            if in_function:
                statement = ""
            continue
        if char == "}":
            depth -= 1
            if in_function or depth < 0:
                statement = ""
            elif depth == 0:
                statement += "{}"
            in_function = in_function and depth > 0
            depth = max(depth, 0)
            continue
        if char == ";":
            if depth == 0 or (in_function and re.match(r"\s*static\b", statement)):
                yield start, " ".join(statement.split())
            if depth == 0 or in_function:
                statement = ""
            continue
        if depth == 0 or in_function:
            if not statement.strip():
                start = line
            statement += char


def is_mutable_variable(declaration):
    head = declaration.split("=")[0].strip()
    head = re.sub(r"__attribute__\s*\(\(.*?\)\)|_Static_assert.*|static_assert.*", "", head).strip()
    if not head or re.match(r"(typedef|extern)\b", head):
        return False
    if re.fullmatch(r"(static\s+)?(struct|union|enum)(\s+\w+)?(\s*\{\})?", head):
        return False  # a type
    pointer_to_function = re.match(r"[^(]*\(\s*\*\s*(const\s+)?\w*(\[\w*\])*\s*\)\s*\(", head)
    if pointer_to_function:
        return not pointer_to_function.group(1)
    if "(" in head:
        return False  # a prototype
    if "*" in head:
        return not re.search(r"\bconst\b", head.rsplit("*", 1)[1])
    return not re.search(r"\bconst\b", head)


def rule_state(tree):
    bad = []
    for path in tree.files(".c", ".h", folders=CORE):
        raw = tree.text(path).split("\n")
        text = re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", lambda m: "\n" * m.group(0).count("\n"),
                      without_comments(tree.text(path)), flags=re.M)
        text = re.sub(r"^[A-Z_]+\(.*\)[ \t]*$", "", text, flags=re.M)  # an X-macro line
        for line, declaration in declarations_of(text):
            near = raw[line - 1] + (raw[line - 2] if line > 1 else "")
            if is_mutable_variable(declaration) and STATE_MARK not in near:
                bad.append(f"{path}:{line}: mutable state: {declaration[:60]}")
    return bad


def rule_definitions(tree):
    """Each entry of a .def list has its file and its object, and each object its entry."""
    bad = []
    for listing, macro, folder, prefix, kind in (
            ("patterns/patterns.def", "PATTERN", "patterns", "", "struct pattern pattern_"),
            ("sim/engines.def", "ENGINE", "sim", "engine_", "struct io_engine_ops engine_"),
            ("sim/reports.def", "REPORT", "sim", "report_", "struct report_writer report_writer_")):
        names = re.findall(rf"^{macro}\((\w+)\)", without_comments(tree.text(listing)), re.M)
        objects = {}
        for path in tree.files(".c", folders=(folder,)):
            for name in re.findall(rf"^const {kind}(\w+)\s*=", tree.text(path), re.M):
                objects[name] = path
        objects.pop("fault", None)  # a layer over any engine, not one of the list
        for name in names:
            expected = f"{folder}/{prefix}{name}.c"
            if objects.get(name) != expected:
                bad.append(f"{listing}: {name} stands for {expected}, which must define "
                           f"const {kind}{name}")
        bad += [f"{listing}: {path} defines {name}, which has no entry"
                for name, path in objects.items() if name not in names]
        bad += [f"{listing}: {name} stands there twice" for name in set(names)
                if names.count(name) > 1]
    return bad


def rule_readmes(tree):
    folders = CODE + ("samples",)
    return [f"{folder}/README.md is missing" for folder in folders
            if not tree.exists(f"{folder}/README.md")]


def rule_unfinished(tree):
    words = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
    return [f"{path}:{number}: unfinished: {match.group(1)}"
            for path in tree.files(".c", ".h", ".sh", ".py", ".def", ".txt")
            for number, line in enumerate(tree.text(path).split("\n"), 1)
            for match in words.finditer(line)]


def clang_format():
    for name in ("clang-format-14", "clang-format"):
        if shutil.which(name):
            shown = subprocess.run([name, "--version"], capture_output=True, text=True,
                                   check=True).stdout
            if re.search(r"version 14\.", shown):
                return name
    raise Skip("clang-format 14 is not here (other versions format differently)")


def rule_format(tree):
    name = clang_format()
    command = [name, "--dry-run", "-Werror", "--style=file"]
    paths = [os.path.join(tree.root, path) for path in tree.files(".c", ".h")]
    # One process for all: starting it costs more than most files do.
    done = subprocess.run(command + paths, capture_output=True, text=True, check=False)
    if not done.returncode:
        return []
    bad = {}
    for line in done.stderr.split("\n"):
        match = re.match(r"(.+?):\d+:\d+: ", line)
        if match:
            path = os.path.relpath(match.group(1), tree.root)
            place = line.split(': ')[0].split('/')[-1]
            bad.setdefault(path, f"{path}: run clang-format -i on it ({place})")
    return list(bad.values()) or [f"{name} failed: {done.stderr.strip()}"]


RULES = {
    "includes": rule_includes,
    "layers": rule_layers,
    "functions": rule_functions,
    "columns": rule_columns,
    "banned": rule_banned,
    "state": rule_state,
    "definitions": rule_definitions,
    "readmes": rule_readmes,
    "unfinished": rule_unfinished,
    "format": rule_format,
}


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in RULES:
        sys.exit("usage: lint.py ROOT " + "|".join(RULES))
    try:
        bad = RULES[sys.argv[2]](Tree(os.path.abspath(sys.argv[1])))
    except Skip as reason:
        print(f"SKIP: {reason}")
        sys.exit(77)
    print("\n".join(bad))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
