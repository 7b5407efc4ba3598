#!/usr/bin/env python3
"""selftest.py - each lint rule passes a clean scratch tree and finds what is planted in it."""
import os
import sys
import tempfile

import lint

CLEAN = {
    "config/README.md": "x\n",
    "config/opt.h": "/* x */\nextern const int opt_x;\n",
    "config/profile.h": "/* x */\nextern const int profile_x;\n",
    "patterns/README.md": "x\n",
    "patterns/patterns.def": "/* PATTERN(x): a comment */\nPATTERN(walk)\n",
    "patterns/walk.c": '#include "config/opt.h"\n\nconst struct pattern pattern_walk = {0};\n',
    "verify/README.md": "x\n",
    "verify/page.h": "/* x */\nextern const int page_x;\n",
    "sim/README.md": "x\n",
    "sim/engines.def": "ENGINE(sync)\n",
    "sim/engine_sync.c": "const struct io_engine_ops engine_sync = {\n    .name = 0,\n};\n",
    "sim/engine_fault.c": "const struct io_engine_ops engine_fault = {0};\n",
    "sim/reports.def": "REPORT(text)\n",
    "sim/report_text.c": "const struct report_writer report_writer_text = {0};\n",
    "sim/low.h": '#include "verify/page.h"\n',
    "sim/high.h": '#include "sim/low.h"\n',
    "tests/README.md": "x\n",
    "tests/lint/layers.txt": "low # lowest\nengine_* report_*\nhigh\n",
    "samples/README.md": "x\n",
}

LONG_FUNCTION = "int f(void)\n{\n" + "    g();\n" * 68 + "}\n"  # 71 lines
FULL_FUNCTION = "int f(void)\n{\n" + "    g();\n" * 67 + "}\n"  # 70 lines

# rule, file, its text, or None to take the file away
FOUND = [
    ("includes", "patterns/walk.c", '#include "config/profile.h"\n'),
    ("includes", "patterns/walk.c", '#include "verify/page.h"\n'),
    ("includes", "config/a.c", '#include "patterns/walk.h"\n'),
    ("includes", "config/a.c", '#include "verify/page.h"\n'),
    ("includes", "verify/a.c", '#include "config/opt.h"\n'),
    ("includes", "sim/high.c", '#include "high.h"\n'),
    ("includes", "sim/high.c", '#include "tests/low.h"\n'),
    ("includes", "tests/unit/a.c", '#include "lost_fixture.h"\n'),
    ("layers", "sim/low.h", '#include "sim/high.h"\n'),
    ("layers", "sim/engine_sync.c", '#include "sim/high.h"\n'),
    ("layers", "sim/unlisted.c", "\n"),
    ("functions", "sim/a.c", LONG_FUNCTION),
    ("functions", "tests/unit/a.c", "static " + LONG_FUNCTION),
    ("columns", "sim/a.c", "/* " + "x" * 98 + "*/\n"),
    ("columns", "tests/run.sh", "#" * 101 + "\n"),
    ("banned", "sim/a.c", "void f(void)\n{\n    sprintf(a, b);\n}\n"),
    ("banned", "tests/unit/a.c", "int x(void)\n{\n    return rand ();\n}\n"),
    ("banned", "sim/a.c", "void f(void)\n{\n    if (a)\n        strcpy(a, b);\n}\n"),
    ("state", "sim/a.c", "static int counter;\n"),
    ("state", "sim/a.c", "int table[4] = {1, 2};\n"),
    ("state", "sim/a.c", "static const char *name = 0;\n"),
    ("state", "sim/a.c", "static struct x {\n    int a;\n} object;\n"),
    ("state", "sim/a.c", "static void (*hook)(void);\n"),
    ("state", "sim/a.c", "void f(void)\n{\n    static int calls = 0;\n    calls++;\n}\n"),
    ("state", "sim/a.c", "_Thread_local int last;\n"),
    ("definitions", "patterns/patterns.def", "PATTERN(walk)\nPATTERN(run)\n"),
    ("definitions", "patterns/patterns.def", "\n"),
    ("definitions", "patterns/walk.c", "\n"),
    ("definitions", "patterns/walk.c", None),
    ("definitions", "sim/engines.def", "ENGINE(sync)\nENGINE(sync)\n"),
    ("definitions", "sim/engine_new.c", "const struct io_engine_ops engine_new = {0};\n"),
    ("definitions", "sim/report_text.c", "\n"),
    ("readmes", "verify/README.md", None),
    ("readmes", "samples/README.md", None),
    ("unfinished", "sim/a.c", "/* TO" "DO: more */\n"),
    ("format", "sim/a.c", "int  f( void );\n"),
]

# What must not be taken for a violation.
PASSED = [
    ("functions", "sim/a.c", FULL_FUNCTION),
    ("columns", "sim/a.c", "/*" + "x" * 96 + "*/\n"),
    ("banned", "sim/a.c", "/* strcpy(a) */\nint my_strcpy(void);\n"),
    ("banned", "sim/a.c", "const char a[] = \"gets(\";\n"),
    ("banned", "sim/a.c", "void f(void)\n{\n    ops->rand(1);\n    snprintf(a, b);\n}\n"),
    ("state", "sim/a.c", "static const int a = 1;\nstatic const char *const b[] = {\"x\"};\n"),
    ("state", "sim/a.c", "struct x {\n    int a;\n};\nenum y { A, B };\n"),
    ("state", "sim/a.c", "int f(int (*step)(int));\n"),
    ("state", "sim/a.c", "/* lint: mutable: a handler reaches nothing else */\n"
                         "static volatile sig_atomic_t stopped;\n"),
    ("state", "sim/a.c", "#define X(a) \\\n    int a;\nextern int elsewhere;\n"
                         "static void (*const hook)(void) = f;\n"),
    ("state", "sim/a.c", "static int f(void)\n{\n    int a = 1;\n    if (a) {\n        a = 2;\n"
                         "    }\n    return a;\n}\n"),
]


def plant(root, changes):
    for name, text in {**CLEAN, **changes}.items():
        if text is None:
            continue
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def violations(rule, changes):
    with tempfile.TemporaryDirectory() as root:
        plant(root, changes)
        return lint.RULES[rule](lint.Tree(root))


def main():
    failures = []
    for rule in lint.RULES:
        if rule not in {found[0] for found in FOUND}:
            failures.append(f"{rule}: no planted violation proves it")
    for rule, name, text in FOUND:
        try:
            if not violations(rule, {name: text}):
                failures.append(f"{rule}: not found in {name}: {text!r}")
        except lint.Skip as reason:
            print(f"SKIP {rule}: {reason}")
    for rule, changes in [(rule, {}) for rule in lint.RULES] + [(p[0], {p[1]: p[2]})
                                                                for p in PASSED]:
        try:
            failures += [f"{rule}: false alarm: {bad}" for bad in violations(rule, changes)]
        except lint.Skip:
            pass
    print("\n".join(failures) or f"{len(FOUND)} violations found, no false alarm")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
