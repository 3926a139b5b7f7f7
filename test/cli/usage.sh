# Wrong usage exits with 2, says what was found, and what to do next.
. "${0%/*}/lib"

usage() {
    exits 2
    prints
    complains "$1"
}

run chekc
usage "there is no command 'chekc'; did you mean 'baton json check'? See 'baton help'."
run josn
usage "there is no command 'josn'; did you mean 'json'? See 'baton help'."
run json chekc
usage "there is no command 'chekc'; did you mean 'check'? See 'baton json --help'."
run check
usage "did you mean 'baton json check'?"
run json zzzzzzzzzz
usage "there is no command 'zzzzzzzzzz'. See"
run help json chekc
usage "did you mean 'check'?"
run json
usage "'baton json' needs a command: check, patch, merge, diff, pointer, path, feel, fmt. See 'baton json --help'."

run json fmt --compcat
usage "there is no option '--compcat'; did you mean '--compact'? See 'baton json fmt --help'."
run json fmt --compact=yes
usage '--compact takes no value'
run json check s.json d.json --max
usage '--max needs a value: --max N'
run json check s.json d.json --max 0
usage "--max expects a number from 1 to 1000000, but found '0'"
run json patch d.json
usage "expected DOC PATCH, but found 1 argument. See 'baton json patch --help'."
run version now
usage "no arguments were expected, but 'now' was found"
run completions tcsh
usage "expected bash, zsh or fish, but found 'tcsh'"

# Options may stand anywhere; after -- a word is an argument, whatever it begins with.
echo '{"a":"b"}' >-odd.json
run json pointer -- -odd.json /a
exits 0
prints '"b"'
echo '{"a":"b"}' >d.json
run json pointer d.json -r /a
prints 'b'

# What cannot be printed is shown escaped, so that no name can drive the terminal.
run "$(printf 'a\033[2Jb')"
usage "'a\\u001b[2Jb'"
run "$(printf 'a\377b')"
exits 2

# A link to the program can stand for one of its commands.
ln -s "$BATON" baton-json
[ "$(./baton-json pointer d.json /a)" = '"b"' ]
