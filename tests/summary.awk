# summary.awk - pass ctest's output through, print the reasons of all skips before its summary.
#
# -v log_file=     ctest's LastTest.log, which has the output of every test
# -v prefix=       before every reason; nested runs set "SKIP in ...: ", which the outer one sees
# -v status_file=  gets ctest's exit status (input line "ctest-status N"; 0 when there is none)
#
# A test says why it skips in a line that starts with "SKIP"; a cmocka test that skips says it in
# the line before "[  SKIPPED ]".  What a nested run skips as the outer one does is shown once.

function add(entry) {
    if (!(entry in known)) {
        known[entry] = 1
        entries[++count] = entry
    }
}

function collect(    line, name, last, totals) {
    while ((getline line < log_file) > 0) {
        if (line ~ /^[0-9]+\/[0-9]+ Test: /) {
            name = line
            sub(/^[0-9]+\/[0-9]+ Test: /, "", name)
            last = ""
            totals = 0
        } else if (line ~ /^SKIP/) {
            add(name ": " line)
            last = line
        } else if (line ~ /^\[  SKIPPED \] [0-9]/) {
            totals = 1 # cmocka repeats the names below
        } else if (line ~ /^\[  SKIPPED \]/) {
            if (!totals)
                add(name ": " substr(line, 14) ": " last)
        } else if (line !~ /^\[/) {
            last = line
        }
    }
    close(log_file)
}

function print_skips(    i, same, any) {
    for (i = 1; i <= count; i++) {
        same = entries[i]
        if (sub(/^[^:]*: SKIP in [a-z]+: /, "", same) && same in known)
            continue
        if (!any++)
            print "\nSkipped, with the reason:"
        print (prefix ? prefix : "  ") entries[i]
    }
    print ""
}

/^ctest-status / { status = $2; next }
/% tests passed, / { collect(); print_skips() }
{ print; fflush() }
END { print status + 0 > status_file }
