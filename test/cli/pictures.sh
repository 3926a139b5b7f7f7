# What people see: every list and the everyday commands, on a terminal of 80 columns and in a pipe.
. "${0%/*}/lib"

command -v script >/dev/null || { echo 'there is no script(1) here'; exit 77; }
export LC_ALL=C.UTF-8

serve
host=$(uname -n)
cat >schema.json <<'END'
{"type":"object","properties":{"status":{"enum":["open","done"]},"findings":{"type":"object"}}}
END
echo '{"session_id":"own","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push"}}' >hook.json
quiet() { run "$@"; [ "$status" = 0 ] || fail "$what: expected no error"; }
quiet schema create review schema.json --description 'What a review has found, by the id of the finding'
quiet state create review '{"status":"open"}' -q
id=$(cat out)
quiet state set "$id" /status done
quiet state set "$id" /findings '{"f1":{"file":"src/wire/loop.c","text":"a timer is not freed when its owner is"}}'
quiet agent create echo --profile shell --description 'Says what it was told, and then that it is done, which is more than many do' \
    --args '["sh","-c","cat; echo; echo done"]'
quiet agent create bad --profile shell --args '["sh","-c","echo no compiler >&2; exit 3"]'
quiet agent create slow --profile shell --args '["sleep","600"]'
quiet agent create careful --profile shell --ask '["Bash"]' \
    --args '["sh","-c","baton hook claude <hook.json >hook.out; echo I wait for your word"]'
quiet session start reviewer -a echo -p 'Review the last commit' --state "$id" --wait
run session start broken -a bad -p go --wait
exits 16
quiet session start pusher -a careful -p go
quiet session start a_name_that_is_longer_than_most -a slow -p go
until "$BATON" session list --json >out; [ "$(grep -o '"status":"running"' out | wc -l)" = 1 ] &&
    [ "$(grep -o '"status":"idle"' out | wc -l)" = 1 ]; do sleep 0.05; done
quiet token create viewer --name wall
quiet project create shop /srv/shop --host "$host" --common-dir "$PWD" --state "$id"
quiet message send reviewer 'The tests of the wire are red since noon: look at loop.c first, please'
quiet token create session --scope '{"session_id":"by-hand","state_id":"'"$id"'","pointers":["/findings"]}'

# Ids, ages and what is of this machine are masked; rows of lists are in the order of their text.
masked() {
    case $1 in
    session\ tree | top*) age='s/  ( [0-9]|[0-9]{2})[smh]( |$)/  AGE\2/' ;; # to the right
    event*) age='s/^[0-9]+ +[0-9]+[smh] +/N    AGE  /; s/after [0-9]+/after N/' ;;
    *) age='s/(^| )([0-9][smh] |[0-9]{2}[smh]|[0-9][smh]$)( |$)/\1AGE\3/g' ;;
    esac
    tr -d '\r' | sed -E "s/_[a-z2-7]{12}/_xxxxxxxxxxxx/g; s/exec-[0-9a-f-]{36}/exec-ID/g; s/job_[0-9_]+/job_ID/g
        s/for [0-9]+[smh]/for AGE/g; s/in [0-9]+[smh]$/in AGE/; s/127\.0\.0\.1:[0-9]+/ADDRESS/g; s|$PWD|HERE|g; s/apr_[a-z2-7]+…/apr_xxxx…/; $age
        s/pid [0-9]+/pid N/; s/up for [0-9]+[smh]/up for AGE/; s/\(baton [0-9][0-9.]*/(baton VERSION/; s/in [0-9]+[smh]([;,])/in AGE\1/
        s/ +$host +/  HOST  /; s/ host +id/ host  id/; s/of +seen/of  seen/; s/(yes +1 +)[0-9]+ +AGE/\1N   AGE/
        s/[0-9]+ of [0-9]+ busy/N of N busy/; s/[0-9]{4}-[0-9-]+T[0-9:.]+Z/TIME/g; s/ +$//"
}
sorted() { awk 'NR == 1 { print; fflush(); next } { print | "LC_ALL=C sort" }'; }

narrow() {
    tr -d '\r' <out | sed 's/[…▲●○◇✓✗–↺→├╮┬╯┴│─]/./g' | awk '{ if (length($0) > 80) exit 1 }' || fail "$what: expected at most 80 columns"
}

# picture PIPE|TERMINAL COMMAND...: compares with the lines of standard input.
picture() {
    kind=$1
    shift
    cat >expected
    status=0
    what="baton $* ($kind)"
    if [ "$kind" = terminal ]; then
        NO_COLOR=1 TERM=xterm script -qec "stty cols 80 rows 40; $BATON $*" /dev/null </dev/null >out 2>err || status=$?
        case ${2-} in read | get) ;; *) narrow ;; esac
    else
        "$BATON" "$@" >out 2>err || status=$?
    fi
    [ "$status" = 0 ] || fail "$what: expected no error"
    case "$*" in *' list') masked "$*" <out | sorted >shown ;; *) masked "$*" <out >shown ;; esac
    cmp -s expected shown || { echo "$what:"; diff expected shown; exit 1; }
}

picture terminal session list <<'END'
name                           status    age  last              id
a_name_that_is_longer_than_m…  running   AGE                    ses_xxxxxxxxxxxx
broken                         failed    AGE  the agent ended…  ses_xxxxxxxxxxxx
pusher                         idle      AGE  I wait for your…  ses_xxxxxxxxxxxx
reviewer                       finished  AGE  done              ses_xxxxxxxxxxxx
END
picture pipe session list <<'END'
name                             status    age  agent    last                                          id
a_name_that_is_longer_than_most  running   AGE  slow                                                   ses_xxxxxxxxxxxx
broken                           failed    AGE  bad      the agent ended with exit code 3 no compiler  ses_xxxxxxxxxxxx
pusher                           idle      AGE  careful  I wait for your word                          ses_xxxxxxxxxxxx
reviewer                         finished  AGE  echo     done                                          ses_xxxxxxxxxxxx
END
picture terminal run list <<'END'
session              status     age  purpose  error             id
a_name_that_is_lon…  running    AGE  work                       run_xxxxxxxxxxxx
broken               failed     AGE  work     the agent ended…  run_xxxxxxxxxxxx
pusher               completed  AGE  work                       run_xxxxxxxxxxxx
reviewer             completed  AGE  work                       run_xxxxxxxxxxxx
END
picture pipe run list <<'END'
session                          status     age  purpose  try  agent    error                                         id
a_name_that_is_longer_than_most  running    AGE  work     1    slow                                                   run_xxxxxxxxxxxx
broken                           failed     AGE  work     1    bad      the agent ended with exit code 3 no compiler  run_xxxxxxxxxxxx
pusher                           completed  AGE  work     1    careful                                                run_xxxxxxxxxxxx
reviewer                         completed  AGE  work     1    echo                                                   run_xxxxxxxxxxxx
END
picture terminal runner list <<'END'
name   alive  runs  of  seen  host  id
local  yes    1     N   AGE  HOST  rnr_xxxxxxxxxxxx
END
picture pipe runner list <<'END'
name   alive  runs  of  seen  host  id
local  yes    1     N   AGE  HOST  rnr_xxxxxxxxxxxx
END
picture terminal project list <<'END'
name  members  version  age  schema  folder     state
shop  0        3        AGE  review  /srv/shop  wfstate_xxxxxxxxxxxx
END
picture pipe project list <<'END'
name  members  version  age  schema  folder     state
shop  0        3        AGE  review  /srv/shop  wfstate_xxxxxxxxxxxx
END
picture terminal message list <<'END'
from      to        status   age  message                       id
operator  reviewer  pending  AGE  The tests of the wire are r…  msg_xxxxxxxxxxxx
END
picture pipe message list <<'END'
from      to        status   age  message                                                                 id
operator  reviewer  pending  AGE  The tests of the wire are red since noon: look at loop.c first, please  msg_xxxxxxxxxxxx
END
picture terminal agent list <<'END'
name     profile  from  description
bad      shell    api
careful  shell    api
echo     shell    api   Says what it was told, and then that it is done, which …
slow     shell    api
END
picture pipe agent list <<'END'
name     profile  from  description
bad      shell    api
careful  shell    api
echo     shell    api   Says what it was told, and then that it is done, which is more than many do
slow     shell    api
END
picture terminal profile list <<'END'
name      from      description
aider     built in  aider, one message at a time
claude    built in  Claude Code, headless
codex     built in  Codex CLI, headless
gemini    built in  Gemini CLI, headless
kiro      built in  Kiro CLI, headless
opencode  built in  opencode, headless
scripted  built in  An agent that plays a scenario: for demonstrations and tests
shell     built in  Any command: the args of the agent; the prompt is on its st…
END
picture pipe profile list <<'END'
name      from      description
aider     built in  aider, one message at a time
claude    built in  Claude Code, headless
codex     built in  Codex CLI, headless
gemini    built in  Gemini CLI, headless
kiro      built in  Kiro CLI, headless
opencode  built in  opencode, headless
scripted  built in  An agent that plays a scenario: for demonstrations and tests
shell     built in  Any command: the args of the agent; the prompt is on its standard input
END
picture terminal schema list <<'END'
name    version  age  description                            id
review  1        AGE  What a review has found, by the id o…  schema_xxxxxxxxxxxx
END
picture pipe schema list <<'END'
name    version  age  description                                        id
review  1        AGE  What a review has found, by the id of the finding  schema_xxxxxxxxxxxx
END
picture terminal state list <<'END'
schema  version  age  session   about                       id
review  3        AGE  reviewer  What a review has found, …  wfstate_xxxxxxxxxxxx
END
picture pipe state list <<'END'
schema  version  age  session   about                                              id
review  3        AGE  reviewer  What a review has found, by the id of the finding  wfstate_xxxxxxxxxxxx
END
picture terminal state history "$id" <<'END'
version  age  by        patch
3        AGE  operator  [{"op":"add","path":"/findings","value":{"f1":{"file":"…
2        AGE  operator  [{"op":"replace","path":"/status","value":"done"}]
1        AGE  operator  [{"op":"add","path":"","value":{"status":"open"}}]
END
picture pipe state history "$id" <<'END'
version  age  by        patch
3        AGE  operator  [{"op":"add","path":"/findings","value":{"f1":{"file":"src/wire/loop.c","text":"a timer is not freed when its owner is"}}}]
2        AGE  operator  [{"op":"replace","path":"/status","value":"done"}]
1        AGE  operator  [{"op":"add","path":"","value":{"status":"open"}}]
END
picture terminal state blame "$id" <<'END'
pointer      version  age  by
(all of it)  3        AGE  operator
/status      2        AGE  operator
/findings    3        AGE  operator
END
picture pipe state blame "$id" <<'END'
pointer      version  age  by
(all of it)  3        AGE  operator
/status      2        AGE  operator
/findings    3        AGE  operator
END
picture terminal permission list <<'END'
session  tool  status   age  what for                id
pusher   Bash  waiting  AGE  {"command":"git push"}  prm_xxxxxxxxxxxx
END
picture pipe permission list <<'END'
session  tool  status   age  what for                id
pusher   Bash  waiting  AGE  {"command":"git push"}  prm_xxxxxxxxxxxx
END
picture terminal token list <<'END'
name                   kind      age  revoked  scope             id
a_name_that_is_longe…  session   AGE           {"session_id":"…  ss_xxxxxxxxxxxx
broken                 session   AGE  AGE      {"session_id":"…  ss_xxxxxxxxxxxx
by-hand                session   AGE           {"session_id":"…  ss_xxxxxxxxxxxx
operator               operator  AGE                             op_xxxxxxxxxxxx
pusher                 session   AGE  AGE      {"session_id":"…  ss_xxxxxxxxxxxx
reviewer               session   AGE  AGE      {"session_id":"…  ss_xxxxxxxxxxxx
runner                 runner    AGE                             rn_xxxxxxxxxxxx
wall                   viewer    AGE                             vw_xxxxxxxxxxxx
END
picture pipe token list <<'END'
name                             kind      age  revoked  scope                                                                                            id
a_name_that_is_longer_than_most  session   AGE           {"session_id":"ses_xxxxxxxxxxxx","run_id":"run_xxxxxxxxxxxx"}                                    ss_xxxxxxxxxxxx
broken                           session   AGE  AGE      {"session_id":"ses_xxxxxxxxxxxx","run_id":"run_xxxxxxxxxxxx"}                                    ss_xxxxxxxxxxxx
by-hand                          session   AGE           {"session_id":"by-hand","state_id":"wfstate_xxxxxxxxxxxx","pointers":["/findings"]}              ss_xxxxxxxxxxxx
operator                         operator  AGE                                                                                                            op_xxxxxxxxxxxx
pusher                           session   AGE  AGE      {"session_id":"ses_xxxxxxxxxxxx","run_id":"run_xxxxxxxxxxxx"}                                    ss_xxxxxxxxxxxx
reviewer                         session   AGE  AGE      {"session_id":"ses_xxxxxxxxxxxx","run_id":"run_xxxxxxxxxxxx","state_id":"wfstate_xxxxxxxxxxxx"}  ss_xxxxxxxxxxxx
runner                           runner    AGE                                                                                                            rn_xxxxxxxxxxxx
wall                             viewer    AGE                                                                                                            vw_xxxxxxxxxxxx
END
picture terminal node list <<'END'
none
END
picture pipe node list <<'END'
none
END
picture terminal event list --subject "$id" --limit 2 <<'END'
seq  age  type                    data                      subject
N    AGE  workflow_state_created  [{"op":"add","path":"",…  wfstate_xxxxxxxxxxxx
N    AGE  workflow_state_updated  [{"op":"replace","path"…  wfstate_xxxxxxxxxxxx
baton: there are more: --after N
END
picture pipe event list --subject "$id" --limit 2 <<'END'
seq  age  type                    by        data                                                subject
N    AGE  workflow_state_created  operator  [{"op":"add","path":"","value":{"status":"open"}}]  wfstate_xxxxxxxxxxxx
N    AGE  workflow_state_updated  operator  [{"op":"replace","path":"/status","value":"done"}]  wfstate_xxxxxxxxxxxx
END
picture terminal session tree <<'END'
   session                          status    age  last
   reviewer                         finished  AGE  done
 ! broken                           failed    AGE  the agent ended with exit co…
   pusher                           idle      AGE  I wait for your word
   a_name_that_is_longer_than_most  running   AGE
END
picture pipe session tree <<'END'
   session                          status    age  last
   reviewer                         finished  AGE  done
 ! broken                           failed    AGE  the agent ended with exit code 3
   pusher                           idle      AGE  I wait for your word
   a_name_that_is_longer_than_most  running   AGE
END
picture terminal top --once <<'END'
1 need you, 1 running, 1 idle, 1 ended  1 runner, N of N busy
   session                          status    agent          age  last
 ! broken                           failed    bad/shell      AGE  the agent end…
   a_name_that_is_longer_than_most  running   slow/shell     AGE
   pusher                           idle      careful/shell  AGE  I wait for yo…
   reviewer                         finished  echo/shell     AGE  done
waits for you
! pusher wants to use Bash          AGE  baton inbox approve prm_xxxxxxxxxxxx
END
picture pipe top --once <<'END'
1 need you, 1 running, 1 idle, 1 ended  1 runner, N of N busy
   session                          status    agent          age  last
 ! broken                           failed    bad/shell      AGE  the agent ended with exit code 3
   a_name_that_is_longer_than_most  running   slow/shell     AGE
   pusher                           idle      careful/shell  AGE  I wait for your word
   reviewer                         finished  echo/shell     AGE  done
waits for you
! pusher wants to use Bash          AGE  baton inbox approve prm_xxxxxxxxxxxx
END
picture terminal status <<'END'
server    http://ADDRESS (baton VERSION)
          pid N, up for AGE, in HERE/data
agents    1 running, 1 idle
          1 runner, N of N busy
for you   pusher asks to use Bash: {"command":"git push"}
            baton inbox approve prm_xxxxxxxxxxxx  (or reject)
          broken failed: the agent ended with exit code 3
folder    HERE
          project shop, 0 at work, state wfstate_xxxxxxxxxxxx at version 3
          no agent is wired
next      baton inbox    shows what waits for you; `baton inbox show ID` what
                         there is to judge
          baton init     wires the agents that you start in this folder
END
picture pipe status <<'END'
server    http://ADDRESS (baton VERSION)
          pid N, up for AGE, in HERE/data
agents    1 running, 1 idle
          1 runner, N of N busy
for you   pusher asks to use Bash: {"command":"git push"}
            baton inbox approve prm_xxxxxxxxxxxx  (or reject)
          broken failed: the agent ended with exit code 3
folder    HERE
          project shop, 0 at work, state wfstate_xxxxxxxxxxxx at version 3
          no agent is wired
next      baton inbox    shows what waits for you; `baton inbox show ID` what
                         there is to judge
          baton init     wires the agents that you start in this folder
END
picture terminal state read "$id" <<'END'
{
  "state_id": "wfstate_xxxxxxxxxxxx",
  "name": null,
  "schema_id": "schema_xxxxxxxxxxxx",
  "schema_name": "review",
  "schema_version": 1,
  "root_session_id": "ses_xxxxxxxxxxxx",
  "root_session_name": "reviewer",
  "version": 3,
  "created_at": "TIME",
  "updated_at": "TIME",
  "current_data": {
    "status": "done",
    "findings": {
      "f1": {
        "file": "src/wire/loop.c",
        "text": "a timer is not freed when its owner is"
      }
    }
  }
}
END
picture pipe state read "$id" <<'END'
{"state_id":"wfstate_xxxxxxxxxxxx","name":null,"schema_id":"schema_xxxxxxxxxxxx","schema_name":"review","schema_version":1,"root_session_id":"ses_xxxxxxxxxxxx","root_session_name":"reviewer","version":3,"created_at":"TIME","updated_at":"TIME","current_data":{"status":"done","findings":{"f1":{"file":"src/wire/loop.c","text":"a timer is not freed when its owner is"}}}}
END
picture terminal agent get echo <<'END'
{
  "name": "echo",
  "description": "Says what it was told, and then that it is done, which is more than many do",
  "profile": "shell",
  "args": [
    "sh",
    "-c",
    "cat; echo; echo done"
  ],
  "source": "api",
  "created_at": "TIME",
  "updated_at": "TIME"
}
END
picture pipe agent get echo <<'END'
{"name":"echo","description":"Says what it was told, and then that it is done, which is more than many do","profile":"shell","args":["sh","-c","cat; echo; echo done"],"source":"api","created_at":"TIME","updated_at":"TIME"}
END

# Workflows: one that stands still, one that goes on, one that was cancelled.
cat >ship.json <<'END'
{ "workflow": "ship", "description": "Packs what was ordered, labels each of the parcels, and sends them on their way",
  "steps": [
    { "id": "pick", "job": "pick-from-the-shelf", "outputs": ["parcels"] },
    { "id": "label", "after": ["pick"], "for_each": "=parcels", "job": "label" },
    { "id": "check", "title": "Check the address", "after": ["pick"] },
    { "id": "wrap", "after": ["pick"], "when": "=order > 100", "job": "wrap" },
    { "id": "send", "after": ["label", "check", "wrap"], "job": "send" } ] }
END
quiet workflow deploy ship.json
quiet execution start ship '{"order":1}' --business-key 'order 4711 of ann' -q
ship=$(cat out)
quiet job claim pick-from-the-shelf --worker 'hand of the north wall'
quiet job complete "$("$BATON" json pointer out /0/job_id -r)" '{"parcels":[1,2]}'
quiet job claim label --worker 'hand of the north wall'
quiet job error "$("$BATON" json pointer out /0/job_id -r)" no_ink 'There is no ink in the printer of the hall, and nobody knows where the new one is'
quiet execution start ship -q
quiet execution start ship -q
quiet execution cancel "$(cat out)" --reason 'Ann has changed her mind, and wants to have something else'

picture terminal workflow list <<'END'
name        version  age  kind        description
generation  1             generation  Writes a scene after its blueprint, in se…
planning    1             planning    Plans a scene in five phases; a person ch…
ship        1        AGE  steps       Packs what was ordered, labels each of th…
END
picture pipe workflow list <<'END'
name        version  age  kind        description
generation  1             generation  Writes a scene after its blueprint, in seven steps; a person approves the plan of its verification.
planning    1             planning    Plans a scene in five phases; a person chooses among the scenarios.
ship        1        AGE  steps       Packs what was ordered, labels each of the parcels, and sends them on their way
END
picture terminal workflow show ship <<'END'
○ start
● pick
├─┬─╮
● │ │ label
│ ● │ check  Check the address
│ │ ● wrap
├─┴─╯
● send
○ end
END
picture pipe workflow show ship <<'END'
○ start
● pick
├─┬─╮
● │ │ label
│ ● │ check  Check the address
│ │ ● wrap
├─┴─╯
● send
○ end
END
picture terminal execution list <<'END'
workflow  status     age  stuck  id
ship      CANCELLED  AGE  0      exec-ID
ship      RUNNING    AGE  0      exec-ID
ship      RUNNING    AGE  1      exec-ID
END
picture pipe execution list <<'END'
workflow  status     age  stuck  key                reason                                                      by        id
ship      CANCELLED  AGE  0                         Ann has changed her mind, and wants to have something else  operator  exec-ID
ship      RUNNING    AGE  0                                                                                     operator  exec-ID
ship      RUNNING    AGE  1      order 4711 of ann                                                              operator  exec-ID
END
picture terminal execution show "$ship" <<'END'
ship version 1 for order 4711 of ann
exec-ID, started by operator
RUNNING for AGE
2 of 5 steps done

  ✓ pick   in AGE
  ● label  waits for 2 of 2 items; a person, for AGE: incident inc_xxxxxxxxxxxx
  ● check  waits for step check to be reported, for AGE
  – wrap   skipped: its condition was not true
  ○ send   waits for label, check

waits for you
  ! label: its worker reports the error "no_ink": There is no ink in the
    printer of the hall, and nobody knows where the new one is
      baton execution retry exec-ID label
END
picture pipe execution show "$ship" <<'END'
ship version 1 for order 4711 of ann
exec-ID, started by operator
RUNNING for AGE
2 of 5 steps done

  ✓ pick   in AGE
  ● label  waits for 2 of 2 items; a person, for AGE: incident inc_xxxxxxxxxxxx
  ● check  waits for step check to be reported, for AGE
  – wrap   skipped: its condition was not true
  ○ send   waits for label, check

waits for you
  ! label: its worker reports the error "no_ink": There is no ink in the
    printer of the hall, and nobody knows where the new one is
      baton execution retry exec-ID label
END
picture terminal execution steps "$ship" <<'END'
step   status       try  age  after             waits for
pick   completed    1    AGE
label  in_progress  1    AGE  pick              2 of 2 items; a person, for AGE:…
check  in_progress  1    AGE  pick              step check to be reported, for …
wrap   skipped      0    AGE  pick
send   pending      0         label,check,wrap  label, check
END
picture pipe execution steps "$ship" <<'END'
step   status       try  age  after             waits for
pick   completed    1    AGE
label  in_progress  1    AGE  pick              2 of 2 items; a person, for AGE: incident inc_xxxxxxxxxxxx
check  in_progress  1    AGE  pick              step check to be reported, for AGE
wrap   skipped      0    AGE  pick
send   pending      0         label,check,wrap  label, check
END
picture terminal job list <<'END'
type                 step   try  worker  workflow  id
label                label  1    (none)  ship      job_ID
pick-from-the-shelf  pick   1    (none)  ship      job_ID
END
picture pipe job list <<'END'
type                 step   try  worker  workflow  key                id
label                label  1    (none)  ship      order 4711 of ann  job_ID
pick-from-the-shelf  pick   1    (none)  ship                         job_ID
END
picture terminal incident list <<'END'
workflow  step   kind   status  age  what                       id
ship      label  error  open    AGE  its worker reports the e…  inc_xxxxxxxxxxxx
END
picture pipe incident list <<'END'
workflow  step   kind   status  age  what                                                                                                                      id
ship      label  error  open    AGE  its worker reports the error "no_ink": There is no ink in the printer of the hall, and nobody knows where the new one is  inc_xxxxxxxxxxxx
END

# What waits for a person, with what there is to judge.
cat >plan.json <<'END'
{ "workflow": "fix", "steps": [
    { "id": "plan", "title": "Plan the work", "description": "In which order, and why", "outputs": ["plan", "files"],
      "evidence": [{ "run": "test -f made.txt" }], "retry": { "max_attempts": 2 },
      "approval": { "deadline": "2d", "default": "reject", "on_reject": "plan" } },
    { "id": "scene", "outputs": ["scenes"], "approval": { "type": "select_variant", "options": "=scenes" } },
    { "id": "code", "after": ["plan", "scene"], "agents": ["careful", "echo"], "parallel": true } ] }
END
quiet workflow deploy plan.json
quiet execution start fix -q --project-dir .
fix=$(cat out)
quiet execution report "$fix" plan --outputs '{"plan":"too soon","files":[]}'
until "$BATON" execution steps "$fix" plan --json | grep -q '"attempt":2,'; do sleep 0.05; done
touch made.txt
quiet execution report "$fix" plan --outputs '{"plan":"the parser first:\na table of signs, \u001b[31mred\u001b[0m ones too\nthen the printer","files":["src/parse.c","src/print.c"]}'
quiet execution report "$fix" scene --outputs '{"scenes":[{"id":"A","plot":"at sea"},{"id":"B","plot":"in town"}]}'
until "$BATON" inbox --kind approval --json >out && [ "$(grep -o '"id":"apr_' out | wc -l)" = 2 ]; do sleep 0.05; done
plan=$(grep -o '"id":"apr_[a-z0-9]*","kind":"approval","title":"approve' out | cut -d'"' -f4)
scene=$(grep -o '"id":"apr_[a-z0-9]*","kind":"approval","title":"choose' out | cut -d'"' -f4)
picture terminal inbox <<'END'
kind        what                  for     age  if nobody        id
permission  pusher wants to use…  pusher  AGE  rejected in AGE  prm_xxxxxxxxxxxx
approval    approve Plan the wo…  fix     AGE  rejected in 1d   apr_xxxxxxxxxxxx
incident    label of ship stand…  ship    AGE  stands still     inc_xxxxxxxxxxxx
approval    choose a variant of…  fix     AGE  waits on         apr_xxxxxxxxxxxx
baton: `baton inbox show ID` shows what there is to judge, and how to decide
END
picture pipe inbox <<'END'
kind        what                        for     age  if nobody        why                                                                                                                       id
permission  pusher wants to use Bash    pusher  AGE  rejected in AGE  its role may use that tool when a person has said so                                                                      prm_xxxxxxxxxxxx
approval    approve Plan the work       fix     AGE  rejected in 1d   step plan of fix is done, and what comes after it waits for you                                                           apr_xxxxxxxxxxxx
incident    label of ship stands still  ship    AGE  stands still     its worker reports the error "no_ink": There is no ink in the printer of the hall, and nobody knows where the new one is  inc_xxxxxxxxxxxx
approval    choose a variant of scene   fix     AGE  waits on         step scene of fix is done, and what comes after it waits for you                                                          apr_xxxxxxxxxxxx
END
picture terminal inbox --kind incident <<'END'
kind      what                        for   age  if nobody     id
incident  label of ship stands still  ship  AGE  stands still  inc_xxxxxxxxxxxx
baton: `baton inbox show ID` shows what there is to judge, and how to decide
END
picture pipe inbox --kind incident <<'END'
kind      what                        for   age  if nobody     why                                                                                                                       id
incident  label of ship stands still  ship  AGE  stands still  its worker reports the error "no_ink": There is no ink in the printer of the hall, and nobody knows where the new one is  inc_xxxxxxxxxxxx
END
picture terminal approvals <<'END'
kind      what                       for  age  if nobody       id
approval  approve Plan the work      fix  AGE  rejected in 1d  apr_xxxxxxxxxxxx
approval  choose a variant of scene  fix  AGE  waits on        apr_xxxxxxxxxxxx
baton: `baton inbox show ID` shows what there is to judge, and how to decide
END
picture pipe approvals <<'END'
kind      what                       for  age  if nobody       why                                                               id
approval  approve Plan the work      fix  AGE  rejected in 1d  step plan of fix is done, and what comes after it waits for you   apr_xxxxxxxxxxxx
approval  choose a variant of scene  fix  AGE  waits on        step scene of fix is done, and what comes after it waits for you  apr_xxxxxxxxxxxx
END
picture terminal inbox show "$plan" <<'END'
approve Plan the work
approval apr_xxxxxxxxxxxx, for fix step plan of
exec-ID
step plan of fix is done, and what comes after it waits for you
it waits for AGE; if nobody decides within 1d, it counts as rejected, and step
plan is done anew

  In which order, and why
  plan:
    the parser first:
    a table of signs, □[31mred□[0m ones too
    then the printer
  files: ["src/parse.c","src/print.c"]

to decide
      baton inbox approve apr_xxxxxxxxxxxx
      baton inbox reject apr_xxxxxxxxxxxx --reason WHY
      baton inbox rework apr_xxxxxxxxxxxx --reason WHY
END
picture pipe inbox show "$plan" <<'END'
approve Plan the work
approval apr_xxxxxxxxxxxx, for fix step plan of
exec-ID
step plan of fix is done, and what comes after it waits for you
it waits for AGE; if nobody decides within 1d, it counts as rejected, and step
plan is done anew

  In which order, and why
  plan:
    the parser first:
    a table of signs, □[31mred□[0m ones too
    then the printer
  files: ["src/parse.c","src/print.c"]

to decide
      baton inbox approve apr_xxxxxxxxxxxx
      baton inbox reject apr_xxxxxxxxxxxx --reason WHY
      baton inbox rework apr_xxxxxxxxxxxx --reason WHY
END
picture terminal inbox show "$scene" <<'END'
choose a variant of scene
approval apr_xxxxxxxxxxxx, for fix step scene of
exec-ID
step scene of fix is done, and what comes after it waits for you
it waits for AGE; if nobody decides, it waits on

  scenes: [{"id":"A","plot":"at sea"},{"id":"B","plot":"in town"}]
  choose one of: A, B

to decide
      baton inbox approve apr_xxxxxxxxxxxx --variant NAME
      baton inbox reject apr_xxxxxxxxxxxx --reason WHY
      baton inbox rework apr_xxxxxxxxxxxx --reason WHY
END
picture pipe inbox show "$scene" <<'END'
choose a variant of scene
approval apr_xxxxxxxxxxxx, for fix step scene of
exec-ID
step scene of fix is done, and what comes after it waits for you
it waits for AGE; if nobody decides, it waits on

  scenes: [{"id":"A","plot":"at sea"},{"id":"B","plot":"in town"}]
  choose one of: A, B

to decide
      baton inbox approve apr_xxxxxxxxxxxx --variant NAME
      baton inbox reject apr_xxxxxxxxxxxx --reason WHY
      baton inbox rework apr_xxxxxxxxxxxx --reason WHY
END
picture terminal execution show "$fix" <<'END'
fix version 1
exec-ID, started by operator
RUNNING for AGE
0 of 3 steps done

  ▲ plan   waits for a person: approve plan (baton inbox approve apr_xxxx…
           attempt 1: violations in AGE; test -f made.txt: exit 1
           evidence: test -f made.txt: exit 0
  ▲ scene  waits for a person: choose a variant of scene (baton inbox approve a…
  ○ code   after plan, scene

waits for you
  ▲ plan: it is done, and you judge what it has given
      baton inbox show apr_xxxxxxxxxxxx
  ▲ scene: it is done, and you choose a variant
      baton inbox show apr_xxxxxxxxxxxx
END
picture pipe execution show "$fix" <<'END'
fix version 1
exec-ID, started by operator
RUNNING for AGE
0 of 3 steps done

  ▲ plan   waits for a person: approve plan (baton inbox approve apr_xxxxxxxxxxxx), for AGE, attempt 2
           attempt 1: violations in AGE; test -f made.txt: exit 1
           evidence: test -f made.txt: exit 0
  ▲ scene  waits for a person: choose a variant of scene (baton inbox approve apr_xxxxxxxxxxxx --variant NAME), for AGE
  ○ code   after plan, scene

waits for you
  ▲ plan: it is done, and you judge what it has given
      baton inbox show apr_xxxxxxxxxxxx
  ▲ scene: it is done, and you choose a variant
      baton inbox show apr_xxxxxxxxxxxx
END
picture terminal execution steps "$fix" plan <<'END'
plan  Plan the work
waiting_approval, attempt 2
waits for a person: approve plan (baton inbox approve apr_xxxxxxxxxxxx), for AGE

what it has given
  plan: "the parser first:\na table of signs, \u001b[31mred\u001b[0m ones too\n…
  files: ["src/parse.c","src/print.c"]

what a runner has found
  ✓ test -f made.txt: exit 0

attempts that did not do
  attempt 1: violations in AGE
    test -f made.txt: exit 1
END
picture pipe execution steps "$fix" plan <<'END'
plan  Plan the work
waiting_approval, attempt 2
waits for a person: approve plan (baton inbox approve apr_xxxxxxxxxxxx), for AGE

what it has given
  plan: "the parser first:\na table of signs, \u001b[31mred\u001b[0m ones too\nthen the printer"
  files: ["src/parse.c","src/print.c"]

what a runner has found
  ✓ test -f made.txt: exit 0

attempts that did not do
  attempt 1: violations in AGE
    test -f made.txt: exit 1
END
picture terminal workflow show fix <<'END'
○ start
├─╮
● │ plan  Plan the work  up to 2 attempts, evidence, a person approves
│ ● scene  a person chooses
├─╯
● code  by careful, echo at once
○ end
END
picture pipe workflow show fix <<'END'
○ start
├─╮
● │ plan  Plan the work  up to 2 attempts, evidence, a person approves
│ ● scene  a person chooses
├─╯
● code  by careful, echo at once
○ end
END
picture terminal status <<'END'
server    http://ADDRESS (baton VERSION)
          pid N, up for AGE, in HERE/data
agents    1 running, 1 idle
          1 runner, N of N busy; 3 workflows open
for you   pusher asks to use Bash: {"command":"git push"}
            baton inbox approve prm_xxxxxxxxxxxx  (or reject)
          approve Plan the work of fix, or it is rejected in 1d
            baton inbox show apr_xxxxxxxxxxxx
          ship stands still at label: its worker reports the error "no_ink": Th…
            baton inbox retry inc_xxxxxxxxxxxx
          choose a variant of scene of fix; it waits on
            baton inbox show apr_xxxxxxxxxxxx
          broken failed: the agent ended with exit code 3
folder    HERE
          project shop, 0 at work, state wfstate_xxxxxxxxxxxx at version 3
          no agent is wired
next      baton inbox    shows what waits for you; `baton inbox show ID` what
                         there is to judge
          baton init     wires the agents that you start in this folder
END
picture pipe status <<'END'
server    http://ADDRESS (baton VERSION)
          pid N, up for AGE, in HERE/data
agents    1 running, 1 idle
          1 runner, N of N busy; 3 workflows open
for you   pusher asks to use Bash: {"command":"git push"}
            baton inbox approve prm_xxxxxxxxxxxx  (or reject)
          approve Plan the work of fix, or it is rejected in 1d
            baton inbox show apr_xxxxxxxxxxxx
          ship stands still at label: its worker reports the error "no_ink": There is no ink in the printer of the hall, and nobody knows where the new one is
            baton inbox retry inc_xxxxxxxxxxxx
          choose a variant of scene of fix; it waits on
            baton inbox show apr_xxxxxxxxxxxx
          broken failed: the agent ended with exit code 3
folder    HERE
          project shop, 0 at work, state wfstate_xxxxxxxxxxxx at version 3
          no agent is wired
next      baton inbox    shows what waits for you; `baton inbox show ID` what
                         there is to judge
          baton init     wires the agents that you start in this folder
END
quiet approve "$plan" --reason 'tests come first'
picture terminal inbox show "$plan" <<'END'
approve Plan the work
approval apr_xxxxxxxxxxxx, for fix step plan of
exec-ID
it waits for nobody any more: it is approved

  In which order, and why
  plan:
    the parser first:
    a table of signs, □[31mred□[0m ones too
    then the printer
  files: ["src/parse.c","src/print.c"]
END
picture pipe inbox show "$plan" <<'END'
approve Plan the work
approval apr_xxxxxxxxxxxx, for fix step plan of
exec-ID
it waits for nobody any more: it is approved

  In which order, and why
  plan:
    the parser first:
    a table of signs, □[31mred□[0m ones too
    then the printer
  files: ["src/parse.c","src/print.c"]
END
picture terminal execution steps "$fix" plan <<'END'
plan  Plan the work
completed in AGE, attempt 2

what it has given
  plan: "the parser first:\na table of signs, \u001b[31mred\u001b[0m ones too\n…
  files: ["src/parse.c","src/print.c"]

what a runner has found
  ✓ test -f made.txt: exit 0

what a person has decided
  approved by operator (cli): tests come first

attempts that did not do
  attempt 1: violations in AGE
    test -f made.txt: exit 1
END
picture pipe execution steps "$fix" plan <<'END'
plan  Plan the work
completed in AGE, attempt 2

what it has given
  plan: "the parser first:\na table of signs, \u001b[31mred\u001b[0m ones too\nthen the printer"
  files: ["src/parse.c","src/print.c"]

what a runner has found
  ✓ test -f made.txt: exit 0

what a person has decided
  approved by operator (cli): tests come first

attempts that did not do
  attempt 1: violations in AGE
    test -f made.txt: exit 1
END
picture terminal approval list <<'END'
workflow  step   what           status    age  by        way  id
fix       plan   Plan the work  approved  AGE  operator  cli  apr_xxxxxxxxxxxx
fix       scene  scene          waiting   AGE                 apr_xxxxxxxxxxxx
END
picture pipe approval list <<'END'
workflow  step   what           status    age  by        way  id
fix       plan   Plan the work  approved  AGE  operator  cli  apr_xxxxxxxxxxxx
fix       scene  scene          waiting   AGE                 apr_xxxxxxxxxxxx
END
quiet execution cancel "$fix"

# Nothing that is asked for is cut at a column in a pipe, or coloured there.
CLICOLOR_FORCE= run session list
! grep -q "$(printf '\033')" out || fail 'expected no colours'

# Two long names that differ at their ends leave each other, and what was said last, to be read.
for n in 1 2; do
    run session start "codex-a-folder-whose-name-is-as-long-as-it-may-be-0199a2134$n" -a bad -p go --wait
    exits 16
done
picture terminal session tree <<'END'
   session                               status    age  last
   reviewer                              finished  AGE  done
 ! broken                                failed    AGE  the agent ended with ex…
   pusher                                idle      AGE  I wait for your word
   a_name_that_is_longer_than_most       running   AGE
 ! codex-a-folder-who…may-be-0199a21341  failed    AGE  the agent ended with ex…
 ! codex-a-folder-who…may-be-0199a21342  failed    AGE  the agent ended with ex…
END
picture terminal top --once <<'END'
3 need you, 1 running, 1 idle, 1 ended  1 runner, N of N busy
   session                     status    agent          age  last
 ! broken                      failed    bad/shell      AGE  the agent ended wi…
 ! codex-a-folde…e-0199a21341  failed    bad/shell      AGE  the agent ended wi…
 ! codex-a-folde…e-0199a21342  failed    bad/shell      AGE  the agent ended wi…
   a_name_that_i…er_than_most  running   slow/shell     AGE
   pusher                      idle      careful/shell  AGE  I wait for your wo…
   reviewer                    finished  echo/shell     AGE  done
waits for you
! pusher wants to use Bash          AGE  baton inbox approve prm_xxxxxxxxxxxx
! label of ship stands still        AGE  baton inbox retry inc_xxxxxxxxxxxx
workflows that run
! ship order 4711 of ann    RUNNING   2/5      label: 2 of 2 items; a person, f…
  ship                      RUNNING   0/5      pick: a worker for jobs of type …
END

# No agent outlives this.
run session stop a_name_that_is_longer_than_most
run session result a_name_that_is_longer_than_most --wait
exits 17
