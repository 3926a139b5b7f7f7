// phases.mjs PACKAGES BATON: document 001's four tests, with Claude Code: one phase; phases one after the
// other, planned by the orchestrator that baton init writes; the client's own task list; and an agent that
// is started by hand, of which hooks tell.
//
// The model does what the sentence that it is asked stands for. Nothing tells baton of an agent's start and
// end but hooks.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { baton, check, clean, end, finally_, folder, from, Server, until } from './harness.mjs';
import { runByHand } from './life.mjs';
import { say, startModel, use } from './model.mjs';

const program = from('agents/claude', `@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`);
const home = folder();
const shop = join(home, 'shop');
const inShop = (...path) => join(shop, ...path);
const put = (path, text) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

// ---- the model ----

const plans = new Map(); // by a sentence: its tools, one after the other, or what gives one; then words
let sent = ''; // what it was sent last, as text

async function script({ asked, since }) {
  sent = JSON.stringify(model.requests.at(-1).body.messages).replaceAll('\\n', '\n').replaceAll('\\"', '"');
  const sentence = [...plans.keys()].find((key) => asked.includes(key));
  if (!sentence) return say('Nobody told me what to do.');
  const { tools, last } = plans.get(sentence);
  if (since.length >= tools.length) return say(last);
  const tool = tools[since.length];
  return typeof tool === 'function' ? tool() : tool;
}

const model = await startModel(script);
finally_(model.close);
const key = 'a key that nobody looks at';
const quiet = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' };
const env = { HOME: home, ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: key };
put(join(home, '.claude/settings.json'), JSON.stringify({ env: quiet, permissions: { allow: ['Agent', 'Write'] } }));
put(join(home, '.claude.json'), JSON.stringify({ projects: { [shop]: { hasTrustDialogAccepted: true } } }));
const verifier = 'task-completion-verifier';
put(inShop(`.claude/agents/${verifier}.md`), `---\nname: ${verifier}\ndescription: Verifies what others did.\n---\nVerify.\n`);

// ---- the project ----

const server = await Server.start(env);
execFileSync(baton, ['init', '--claude', '--orchestrator', '--yes', '--dir', shop], {
  env: clean({ ...env, BATON_DATA: server.data }),
});

const ask = (prompt, more = [], extra = {}) =>
  runByHand(server, program, ['-p', prompt, ...more], { cwd: shop, env: { ...env, ...extra } });

const workflow = () => server.call('GET', '/executions/phases');
const statuses = ({ status, phases }) => [status, ...phases.map((phase) => phase.status)].join(' ');

// The files that a project shows its newest workflow by, when they say this.
async function mirrored(id, expected) {
  const view = await server.call('GET', `/executions/${id}/views/workflow`);
  assert.equal(statuses(view), expected);
  const json = inShop('.claude/state/workflow.json');
  await until('workflow.json', () => existsSync(json) && statuses(JSON.parse(readFileSync(json))) === expected);
  const found = JSON.parse(readFileSync(json));
  assert.equal(found.id, id);
  const page = inShop('.claude/workflow_state_system.md');
  await until('its page', () => readFileSync(page, 'utf8').includes(`\nStatus: ${view.status} | `));
  return { found, page: readFileSync(page, 'utf8') };
}

const agent = (type, prompt, more = { run_in_background: false }) =>
  use('Agent', { description: 'A phase', subagent_type: type, prompt, ...more });
const write = (name, text) => use('Write', { file_path: inShop(name), content: text });
const make = (task, ...phases) =>
  use('create_workflow_state', { task, phases: phases.map(([title, type]) => ({ title, agent: type })) });
const plan = (sentence, tools, last) => plans.set(sentence, { tools, last });

// ---- document 001, "Testing Strategy" ----

await check('001, test 1: a workflow of one phase is completed, and its files say so', async () => {
  plan('Greet the world.', [
    make('Greet the world.', ['Write hello.txt', 'general-purpose']),
    agent('general-purpose', 'Do it: hello.txt with hello in it.'),
  ], 'The world is greeted.');
  plan('Do it: hello.txt', [write('hello.txt', 'hello\n')], 'Done.\n\n- `hello.txt`\n\nContext: it says hello');
  assert.match(await ask('Greet the world.'), /The world is greeted\./);
  const { id } = await workflow();
  const { found, page } = await mirrored(id, 'completed completed');
  assert.equal(found.task, 'Greet the world.');
  assert.equal(found.current_phase, null);
  assert.deepEqual(found.phases, [
    {
      id: 'phase_0',
      title: 'Write hello.txt',
      agent: 'general-purpose',
      status: 'completed',
      deliverables: ['hello.txt'],
      context_for_next: 'it says hello',
    },
  ]);
  assert.equal(
    page.trimEnd(),
    '# Workflow Status: Greet the world.\n\nStatus: completed | Current Phase: -\n\n## Phases\n\n- [x] Phase 0: Write hello.txt → hello.txt',
  );
  assert.equal(readFileSync(inShop('hello.txt'), 'utf8'), 'hello\n');
});

await check('001, test 2: phases follow each other, and each hands on what the next one must know', async () => {
  const task = 'Create calculator.py with tests and verify.';
  const seen = [];
  let current, handed;
  const look = async () => {
    current = await workflow();
    seen.push(statuses(current));
  };
  plan(task, [
    agent('delegation-orchestrator', 'Plan this: calculator.'),
    agent('general-purpose', 'phase_0: Create calculator module.'),
    async () => {
      await look();
      [, handed] = sent.match(/Next is phase_1, .*Put this into its prompt:\s+Context: ([^"]*?)"/s) ?? [];
      return agent(verifier, `phase_1: Write and run tests.\n\nContext: ${handed}`);
    },
  ], 'There is a calculator.');
  plan('Plan this: calculator.', [
    make(task, ['Create calculator module', 'general-purpose'], ['Write and run tests', verifier]),
  ], 'Workflow: it is planned.');
  plan('phase_0: Create calculator module.', [
    async () => {
      await look();
      return write('calculator.py', 'def add(a, b):\n    return a + b\n');
    },
  ], '## Deliverables\n- calculator.py\n- add, subtract, multiply, divide functions\n\n## Context for next\nFour functions in calculator.py.');
  plan('phase_1: Write and run tests.', [
    async () => {
      await look();
      assert.ok(sent.includes('You do phase_1 of the workflow'), 'it does not know its phase');
      return use('update_phase_status', {
        workflow_id: current.id,
        phase_id: 'phase_1',
        status: 'completed',
        deliverables: ['test_calculator.py', 'all pass'],
        context_for_next: '',
      });
    },
  ], 'All tests pass, in other_words.py.');
  assert.match(await ask(task), /There is a calculator\./);
  assert.deepEqual(seen, ['active active pending', 'active completed active', 'active completed active']);
  assert.equal(handed, 'Four functions in calculator.py.');
  const { found } = await mirrored(current.id, 'completed completed completed');
  assert.equal(found.task, task);
  assert.deepEqual(found.phases[0].deliverables, ['calculator.py', 'add, subtract, multiply, divide functions']);
  assert.equal(found.phases[0].context_for_next, 'Four functions in calculator.py.');
  assert.deepEqual(found.phases[1].deliverables, ['test_calculator.py', 'all pass']);
});

await check('001, test 3: the client’s own list shows the phases, and is told where it does not', async () => {
  const id = randomUUID();
  const told = () => sent.split('Your task list is not what the workflow').length - 1;
  const lines = [];
  const after = (count, pattern, tool) => () => {
    assert.equal(told(), count, `it was told ${told()} times`);
    if (pattern) assert.match(sent, pattern);
    lines.push(sent.match(/- (?:add|entry) .*$/gm)?.at(-1));
    return tool;
  };
  const create = (subject) => use('TaskCreate', { subject, description: subject, activeForm: `Working on ${subject}` });
  const update = (taskId, status) => use('TaskUpdate', { taskId, status });
  plan('Build it in two parts.', [
    make('Build it in two parts.', ['Build the first', 'general-purpose'], ['Build the second', verifier]),
    create('Build the first'),
    after(1, /- add "Build the second": pending/, create('Build the second')),
    after(1, null, agent('general-purpose', 'Build the first part.')),
    after(2, /- entry 1, "Build the first": completed\s+- entry 2, "Build the second": in_progress/, update('1', 'completed')),
    after(3, /- entry 2, "Build the second": in_progress/, update('2', 'in_progress')),
    after(3, null, agent(verifier, 'Build the second part.')),
    after(4, /- entry 2, "Build the second": completed/, update('2', 'completed')),
  ], 'Both are built.');
  plan('Build the first part.', [], '- first.c');
  plan('Build the second part.', [], '- second.c');
  const tools = { CLAUDE_CODE_ENABLE_TODO_TOOLS: '1' };
  assert.match(await ask('Build it in two parts.', ['--session-id', id], tools), /Both are built\./);
  const list = await server.call('GET', `/sessions/claude-${id}/todos`);
  const { todos } = await server.call('GET', `/executions/${list.workflow_id}/views/todos`);
  assert.deepEqual(list.todos.map(({ id: _, ...todo }) => todo), todos);
  assert.equal(list.differs, null);
});

await check('001, test 4: an agent that is started by hand moves its phase, also in the background', async () => {
  const id = randomUUID();
  plan('Make a plan only.', [make('Make a plan only.', ['Look around', 'general-purpose'])], 'It is made.');
  await ask('Make a plan only.', ['--session-id', id]);
  const { id: made } = await workflow();
  await mirrored(made, 'pending pending');
  plan('Start it by hand.', [agent('general-purpose', 'Look around, then.', {})], 'It runs.');
  plan('Look around, then.', [], 'I have seen src/main.c.');
  await ask('Start it by hand.', ['--resume', id]);
  const { found } = await mirrored(made, 'completed completed');
  assert.deepEqual(found.phases[0].deliverables, ['src/main.c']);
});

await check('001: the model was asked for nothing that it does not know', () => {
  if (model.strange.length) throw new Error(model.strange.join(', '));
});
await end();
