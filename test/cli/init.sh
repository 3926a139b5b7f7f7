# A project's agents are wired by one command, which shows what it does and can be taken back.
. "${0%/*}/lib"

HOME=$PWD/home
mkdir home bin project
ln -s "$BATON" bin/baton
export HOME PATH="/usr/bin:/bin"
cd project
unset BATON_DATA BATON_URL BATON_TOKEN BATON_TOKEN_FILE

run init --help
exits 0
shows '--dry-run'
[ "$(awk 'length > 90' out)" = '' ] || fail 'expected lines that fit'
rm -f out err expected

# here FILE: the files of the project are these lines, and no others.
here() {
    rm -f out err expected
    find . -type f | sort >../files
    [ $# = 0 ] && : >../wanted || printf '%s\n' "$@" >../wanted
    cmp -s ../wanted ../files || { echo 'expected other files than:'; cat ../files; exit 1; }
}

# Nobody is there: it says whom it knows.
run init
exits 5
complains 'baton init --claude'

# A program in a folder whose name is no UTF-8 cannot be named by JSON, which is said.
latin=$(printf '../jos\351')
mkdir "$latin"
cp "$BATON" "$latin/baton"
BEFORE=$BATON BATON=$latin/baton
run init --claude --yes
exits 2
complains 'the path of this program is not UTF-8'
BATON=$BEFORE
rm -r "$latin"
here

# Without somebody to ask it changes nothing, and says how to go on.
run init --claude </dev/null
exits 2
shows '+    "baton": {'
complains '--yes'
run init --claude --dry-run
exits 0
shows '+++ b/.claude/settings.json'
run init --claude --json
exits 2
here

# What is not this program in PATH is not named.
run init --claude --yes
exits 0
shows "the files name it by its place: "
grep -q "\"command\": \"/.*baton\"" .mcp.json || fail 'expected the path of the program'
export PATH="$OLDPWD/bin:/usr/bin:/bin"
run init --claude --yes
exits 0
shows 'changed  .mcp.json'
grep -q '"command": "baton"' .mcp.json || fail 'expected the name of the program'
grep -q '"/.*baton"' .mcp.json .claude/settings.json && fail 'expected no path of the program'
grep -q '"mcp__baton__\*"' .claude/settings.json || fail 'expected a permission'
here ./.claude/settings.json ./.mcp.json ./AGENTS.md

# The agent that plans is written for who asks for it, left alone afterwards, and taken out with the rest.
run init --claude --orchestrator --dry-run
exits 0
shows '+++ b/.claude/agents/delegation-orchestrator.md'
here ./.claude/settings.json ./.mcp.json ./AGENTS.md
run init --orchestrator --codex --yes
exits 2
complains '--orchestrator is for Claude Code'
run init --orchestrator --yes
exits 0
shows 'created  .claude/agents/delegation-orchestrator.md'
run init --orchestrator
exits 0
shows 'Nothing to change'
echo 'Be brief.' >>.claude/agents/delegation-orchestrator.md
run init
exits 0
shows 'Nothing to change'
run init --orchestrator --dry-run --json
exits 0
shows '"path":".claude/agents/delegation-orchestrator.md","client":"claude","action":"changed"'
run init --remove --dry-run
exits 2
shows 'kept     .claude/agents/delegation-orchestrator.md all of it: it is not as init writes it'
run init --orchestrator --yes
exits 0
here ./.claude/agents/delegation-orchestrator.md ./.claude/settings.json ./.mcp.json ./AGENTS.md
grep -q 'Workflow State Protocol' AGENTS.md || fail 'expected the protocol of phases'
run init --remove --yes
exits 0
here
run init --claude --yes
exits 0

# Again changes nothing; once it is there, it is found.
run init
exits 0
shows 'Claude Code  .claude is here'
shows 'not found; `baton init --codex` wires it'
shows 'Nothing to change'
run init --json
exits 0
shows '"action":"unchanged"'
shows '"applied":false'

# One of two can go; the block that both read stays.
run init --codex --yes
exits 0
run init --remove --claude --yes
exits 0
here ./.codex/config.toml ./.codex/hooks.json ./AGENTS.md
run init --remove --yes
exits 0
shows 'removed  AGENTS.md'
here
[ ! -e .codex ] || fail 'expected the folder to be gone'
run init --remove
exits 0
shows 'Nothing to remove'

# Whatever was there comes back byte for byte, with its modes.
mkdir .claude .gemini .codex
printf '{"model":"opus",\n   "hooks":{"Stop":[{"hooks":[{"type":"command","command":"say hi"}]}]}}' \
    >.claude/settings.json
printf '{ "mcpServers": { "files": { "command": "f" } } }\n' >.mcp.json
printf '# mine\r\nmodel = "x"\r\n[mcp_servers.files]\r\ncommand = "f"\r\n' >.codex/config.toml
printf '{\n\t"theme": "dark"\n}' >.gemini/settings.json
printf '{\n    "$schema": "https://opencode.ai/config.json",\n    "mcp": {"f": {"enabled": false}}\n}\n' \
    >opencode.json
printf '# Rules\n\nBe kind.' >AGENTS.md
printf '# For Claude\n' >CLAUDE.md
chmod 640 .mcp.json
rm -f out err expected
cp -a . ../before
run init --claude --codex --gemini --opencode --yes
exits 0
[ "$(stat -c %a .mcp.json)" = 640 ] || fail 'expected the mode to stay'
grep -q 'say hi' .claude/settings.json || fail 'expected the own hook to stay'
grep -q 'baton:begin' CLAUDE.md || fail 'expected a block in CLAUDE.md'
for file in .mcp.json .claude/settings.json .codex/hooks.json .gemini/settings.json opencode.json; do
    run json fmt "$file"
    exits 0
done
rm -f out err expected
cp -a . ../wired
run init
exits 0
shows 'Nothing to change'
rm -f out err expected
diff -r . ../wired >../difference || fail 'expected no change'
run init --remove --yes
exits 0
rm -f out err expected
diff -r . ../before >../difference || { cat ../difference; exit 1; }

# Comments, trailing commas and marks of byte order stay, in the file that the client reads.
rm opencode.json
printf '{\n  // mine\n  "mcp": {}, // none yet\n}\n' >opencode.jsonc
printf '\357\273\277{\r\n  "theme": "dark", // at night\r\n}\r\n' >.gemini/settings.json
cp opencode.jsonc ../opencode.before
cp .gemini/settings.json ../gemini.before
run init --opencode --gemini --yes
exits 0
shows 'changed  opencode.jsonc'
grep -q '// none yet' opencode.jsonc || fail 'expected the comment to stay'
grep -q '"baton": {' opencode.jsonc || fail 'expected a server'
[ ! -e opencode.json ] || fail 'expected no other file'
run init --opencode --gemini
exits 0
shows 'Nothing to change'
run init --remove --opencode --gemini --yes
exits 0
cmp opencode.jsonc ../opencode.before
cmp .gemini/settings.json ../gemini.before

# What is no JSON is left alone: the rest is done, and what to add is shown.
printf '{ "mcp": nothing }\n' >opencode.jsonc
run init --opencode --codex --yes
exits 2
shows 'opencode.jsonc: it is not JSON'
shows '    "baton": { "type": "local"'
complains '1 file must be changed by hand'
grep -q mcp_servers.baton .codex/config.toml || fail 'expected the others to be done'

# What somebody has changed stays, and that is said.
printf '# a note\n' >>.codex/config.toml
sed -i 's/^tool_timeout_sec = .*/tool_timeout_sec = 900/' .codex/config.toml
cp .codex/config.toml ../codex.before
run init --remove --codex --yes
exits 2
shows 'kept     .codex/config.toml [mcp_servers.baton]: its lines are not those that init writes'
cmp .codex/config.toml ../codex.before
[ ! -e .codex/hooks.json ] || fail 'expected the hooks to be gone'
rm -f opencode.jsonc

# Links do not lead out of the project.
rm -rf .gemini GEMINI.md
mkdir ../elsewhere
ln -s ../elsewhere .gemini
run init --gemini --yes
exits 2
shows 'leads out of the project'
[ -z "$(ls ../elsewhere)" ] || fail 'expected nothing to be written elsewhere'

run init --dir /nowhere --claude
exits 2
complains "there is no folder '/nowhere'"

# At a terminal it asks, and no is the answer unless yes is given.
command -v script >/dev/null || exit 0
mkdir ../asked
for answer in n y; do
    printf '%s\n' "$answer" | TERM=dumb script -qec "$BATON init --claude --dir ../asked" /dev/null >out 2>err || :
    shows 'Make these changes? [y/N]'
    [ "$answer" = y ] || shows 'Nothing was changed.'
done
[ -e ../asked/.mcp.json ] || fail 'expected the changes to be made'
