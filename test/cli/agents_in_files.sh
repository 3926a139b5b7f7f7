# An agent that is written in a project's folder is started by its name, and nobody has registered it.
. "${0%/*}/lib"

export HOME="$PWD/home" BATON_HEARTBEAT_TIME=1s
mkdir -p home/.claude/agents shop/.claude/agents shop/src bin
git init -q shop
printf -- '---\nname: greeter\ndescription: Greets\nmodel: opus\nargs: [--evil]\n---\nYou greet.\n' \
    >shop/.claude/agents/greeter.md
printf '#!/bin/sh\nprintf "%%s\\n" "$@" >%s\necho "{\\"type\\":\\"result\\",\\"result\\":\\"hi\\"}"\n' \
    "$PWD/args" >bin/claude
chmod +x bin/claude
PATH="$PWD/bin:$PATH"
offered() {
    tries=0
    until "$BATON" agent list --json | grep -q "\"name\":\"$1\""; do
        tries=$((tries + 1))
        [ "$tries" -lt 300 ] || { cat data/runner.log; echo "nobody offers $1"; exit 1; }
        sleep 0.05
    done
}

serve
run project create shop "$PWD/shop" --host "$(uname -n)" --common-dir "$PWD/shop/.git"
exits 0
offered greeter
run session start one -a greeter -p 'say hello' --project-dir "$PWD/shop/src" --wait --json
exits 0
shows '"result":"hi"'
grep -qx 'You greet.' args || { cat args; echo 'expected the text of the file to be the role'; exit 1; }
grep -qx opus args || { cat args; echo 'expected the model of the file'; exit 1; }
grep -q evil args && { cat args; echo 'expected no arguments of the file'; exit 1; }

# One that is written meanwhile is there soon; in another folder, one of a project is nobody.
printf -- '---\ndescription: Writes\n---\nYou write.\n' >home/.claude/agents/writer.md
offered writer
run session start two -a writer -p go --project-dir "$PWD" --wait --json
exits 0
grep -qx 'You write.' args || { cat args; echo 'expected the agent of the home'; exit 1; }
run session start three -a greeter -p go --project-dir "$PWD/home" --json
exits 5
stop
