# The roles of a project's files, and roles by hand.
. "${0%/*}/lib"

mkdir -p shop/.claude/agents
cat >shop/.claude/agents/reviewer.md <<'END'
---
name: reviewer
description: Reads changes and says what is wrong
tools: Read, Bash(git diff:*, git log:*)
model: opus
---
You review changes.
END
printf -- '---\nname: coder\nprofile: codex\n---\nYou write code.\n' >shop/.claude/agents/coder.md

# Without a server nothing is registered, and one is told what to do.
unset BATON_URL BATON_TOKEN BATON_TOKEN_FILE
export BATON_DATA="$PWD/data"
run agent import shop
exits 14
complains 'start one with `baton serve`'

serve
run agent import
exits 5
complains 'there are no agents in ./.claude/agents'
run agent import shop
exits 0
silent
shows 'registered  coder  (shop/.claude/agents/coder.md)'
shows 'registered  reviewer'
run agent get reviewer
exits 0
shows '"tools":["Read","Bash(git diff:*, git log:*)"]'
shows '"system_prompt":"You review changes."'
shows '"profile":"claude"'

# Again: only what has changed, also what is gone.
printf -- '---\nname: coder\n---\nYou write good code.\n' >shop/.claude/agents/coder.md
run agent import shop --json
exits 0
shows '"name":"coder","result":"changed"}'
shows '"name":"reviewer","result":"unchanged"}'
run agent get coder
shows '"system_prompt":"You write good code."'
shows '"profile":"claude"'

# Who may give a role is the operator's word: a project's file neither says it nor takes it back.
run agent update reviewer '{"started_by":["root"]}'
exits 0
printf -- '---\nname: reviewer\nstarted_by: coder\n---\nYou review.\n' >shop/.claude/agents/reviewer.md
run agent import shop
exits 0
shows 'changed     reviewer'
run agent get reviewer
shows '"started_by":["root"]'
shows '"system_prompt":"You review."'

# A file that is refused is told, with its place, and does not keep the others out.
printf -- '---\nname: tester\nprofile: claud\n---\n' >shop/.claude/agents/bad.md
printf -- '---\nname writer\n---\n' >shop/.claude/agents/worse.md
printf -- '---\nname: writer\n---\n' >shop/.claude/agents/z.md
run agent import shop
exits 12
complains 'shop/.claude/agents/bad.md: /profile: there is no profile "claud"; did you mean "claude"?'
complains 'shop/.claude/agents/worse.md: line 2: expected `key: value`'
shows 'registered  writer'

# By hand.
run agent create quick '--description' 'Runs a script' --profile shell --args '["/bin/echo","hi"]'
exits 0
run agent update quick '{"args":["/bin/echo","ho"],"description":null}'
exits 0
shows '"args":["/bin/echo","ho"]'
! grep -q description out || fail 'expected no description any more'
run agent list --json
exits 0
shows '"name":"quick","profile":"shell","source":"api"'
! grep -q '/bin/echo' out || fail 'expected no command lines in a list'
run agent delete quick
exits 0
run agent get quick
exits 5
complains 'there is no agent "quick"'
run profile create mine '["mine","--model={model}"]'
exits 12
complains 'write "--model", "{model}"'
run profile get scripted
exits 0
shows '"source":"built in"'

# Files of the server's directory are there when it starts.
stop
mkdir data/agents data/profiles
printf -- '---\ndescription: From a file\nprofile: local\n---\nYou are local.\n' >data/agents/local.md
echo '{"start":["local-agent","{prompt}"]}' >data/profiles/local.json
serve
run agent get local
exits 0
shows '"source":"file"'
run profile get local
exits 0
stop
rm data/agents/local.md
serve
run agent get local
exits 5
