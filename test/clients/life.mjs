// life.mjs: the lives of agents that are real clients: of a child, from its start to its parent's
// callback; of a parent that a person runs, and of one that baton resumes; and of one that writes.
//
// The model of the client follows a script (model.mjs) that reads the state and then stops without
// recording anything, as agents do. What makes it record is baton: by a hook, in the same turn, or by
// a second run.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { baton, check, clean, folder, Server, until } from './harness.mjs';
import { say, tokens, use } from './model.mjs';

const update = /Required: Update Workflow State/;
const made = { schema_name: 'any', initial_data: {} };
const patch = { operations: [{ op: 'add', path: '/answer', value: 42 }] };

const child = { session_name: 'handed-on', agent_name: 'coder', prompt: 'Find the answer.' };

// What it does, by what it is asked: tools, one after the other, and then its last words.
const parts = [
  { asked: update, tools: [['state_patch', patch]], last: 'It is recorded.' },
  { asked: /Child Session Completed/, tools: [['state_read', {}]], last: 'I have heard.' },
  { asked: /Make a state\./, tools: [['state_create', made]], last: 'It is made.' },
  {
    asked: /Hand it on\./,
    tools: [['state_create', made], ['start_agent_session', child]],
    last: 'It is handed on.',
  },
  { asked: /Find the answer\./, tools: [['state_read', {}]], last: 'It is done.' },
  {
    asked: /Give it to (\S+) as (\S+), and wait\./,
    tools: ([, agent_name, session_name]) => [
      ['state_create', made],
      ['start_agent_session', { ...child, agent_name, session_name }],
      ['state_read', {}, () => settled(session_name)],
    ],
    last: 'I know how it went.',
  },
  {
    asked: /Write a note into (\S+), by (\S+) and (\S+)\./,
    tools: ([, path, tool, how]) => [[tool, JSON.parse(atob(how))]],
    last: 'It is written.',
  },
  { asked: /(?:)/, tools: [], last: 'Nobody told me what to do.' },
];

// A tool may have something to wait for before it is called.
export async function script({ asked, since }) {
  const { asked: pattern, tools, last } = parts.find((part) => part.asked.test(asked));
  const all = typeof tools === 'function' ? tools(asked.match(pattern)) : tools;
  const next = all.find(([tool]) => !since.includes(tool));
  if (since.length > all.length) return say('My tools are not those that I was promised.');
  if (!next) return say(last);
  const [tool, input, first] = next;
  await first?.();
  return use(tool, input);
}

const settings = {
  BATON_STATE_UPDATE_MAX_RETRIES: '2',
  BATON_STATE_UPDATE_RETRY_DELAY: '0',
  BATON_STATE_UPDATE_TIMEOUT: '240',
};

// A home with the client in its path and two projects: one is wired for it, the other is not.
export function projectDirs(client, program) {
  const home = folder();
  const [bin, wired, bare] = ['bin', 'wired', 'bare'].map((name) => join(home, name));
  for (const path of [bin, wired, bare]) mkdirSync(path);
  symlinkSync(program, join(bin, client));
  execFileSync(baton, ['init', `--${client}`, '--yes', '--dir', wired], { env: clean({ HOME: home }) });
  return { home, wired, bare, env: { HOME: home, PATH: `${bin}:${process.env.PATH}` } };
}

let server_;

export async function start(env) {
  const server = (server_ = await Server.start({ ...settings, ...env }));
  await server.call('POST', '/workflow-schemas', { name: 'any', json_schema: { type: 'object' } });
  return server;
}

// The session, when it has settled.
const settled = (name) =>
  until(`the end of ${name}`, async () => {
    const session = await server_.call('GET', `/sessions/${name}`);
    return session.settled && session;
  }, 240000);

const stemOf = (named) => named.replaceAll(/[^a-z]+/gi, '-').toLowerCase();

// A tool of the parent's, as its client calls it: the texts of the result.
async function tool(server, parent, name, args = {}) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta } };
  const answer = await fetch(`${server.url}/mcp`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${parent.token}`,
      Accept: 'application/json, text/event-stream',
      'Content-Type': 'application/json',
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': name,
    },
    body: JSON.stringify(message),
  });
  const text = await answer.text();
  const { result } = JSON.parse(text.startsWith('{') ? text : text.match(/^data: (.*"result".*)$/m)[1]);
  assert.ok(result && !result.isError, text);
  return result.content.map((block) => block.text);
}

async function failure(server, name) {
  const result = await server.call('GET', `/sessions/${name}/result`);
  const { runs } = await server.call('GET', '/runs');
  const ended = runs.map((run) => `${run.session_name} ${run.purpose} ${run.status}: ${run.error}`);
  return JSON.stringify({ ...result, runs: ended }, null, 1);
}

// One child of a root that somebody runs by hand. `how`: the purposes of its runs, one after the other.
export async function live(server, { named, agent, project, how }) {
  const name = stemOf(named);
  const say = (sentence, body) => check(`${named}: ${sentence}`, body);
  const root = await server.session(`${name}-root`, { project_dir: project });
  const [text] = await tool(server, root, 'state_create', made);
  const { state_id } = JSON.parse(text);
  let child;

  await say('its parent starts it, and it settles', async () => {
    const asked = {
      session_name: name,
      agent_name: agent,
      prompt: 'Find the answer.',
      execution_mode: 'async_callback',
    };
    await tool(server, root, 'start_agent_session', asked);
    child = await settled(name);
    assert.equal(child.status, 'finished', await failure(server, name));
  });
  if (!child) return;
  await say('it has recorded, because it was made to', async () => {
    const state = await server.call('GET', `/workflow-states/${state_id}`);
    assert.deepEqual(state.current_data, { answer: 42 }, await failure(server, name));
    assert.equal(state.version, 2);
    assert.equal(child.state_update_status, 'completed');
    const { runs } = await server.call('GET', '/runs');
    const purposes = runs.filter((run) => run.session_name === name).map((run) => run.purpose);
    assert.deepEqual(purposes.sort(), [...how].sort());
  });
  await say('the tokens of its four turns are counted', () => {
    assert.equal(child.usage.input_tokens, 4 * tokens.input);
    assert.equal(child.usage.output_tokens, 4 * tokens.output);
    for (const { inputTokens, input_tokens } of Object.values(child.usage.models ?? {}))
      assert.equal(inputTokens ?? input_tokens, 4 * tokens.input);
  });
  await say('its parent is told once, after the state was written', async () => {
    const told = [];
    for (let i = 0; i < 3; i++) told.push(...(await tool(server, root, 'state_read')).slice(1));
    assert.equal(told.length, 1, JSON.stringify(told));
    assert.match(told[0], new RegExp(`Session \`${name}\` has completed`));
    assert.match(told[0], /Workflow State Version: 2\b/);
    const { events } = await server.call('GET', '/events?limit=500');
    const about = (type, id) => events.filter((e) => e.type === type && JSON.stringify(e).includes(id));
    const delivered = about('callback_delivered', child.session_id);
    assert.equal(delivered.length, 1);
    const written = about('workflow_state_updated', state_id);
    assert.equal(written.length, 1);
    assert.ok(written[0].seq < delivered[0].seq);
  });
}

// A root whose agent is a real client, too: it hands its work on and ends, and a run of its own tells
// it how the child has ended.
export async function handOn(server, { named, agent, project }) {
  await check(`${named}: it is resumed once, when its child has recorded`, async () => {
    const name = 'root-of-handed-on';
    const asked = { type: 'start_session', session_name: name, agent_name: agent, prompt: 'Hand it on.' };
    await server.call('POST', '/runs', { ...asked, project_dir: project });
    const ofRoot = async () => {
      const { runs } = await server.call('GET', '/runs');
      return runs.filter((run) => run.session_name === name);
    };
    await until('the run that tells it', async () => {
      const runs = await ofRoot();
      const { settled } = await server.call('GET', `/sessions/${name}`);
      return runs.length > 1 && runs.every((run) => run.ended_at) && settled;
    }, 240000);
    const runs = (await ofRoot()).map((run) => `${run.purpose} ${run.status}`);
    assert.deepEqual(runs.sort(), ['callback completed', 'work completed']);
    const { result } = await server.call('GET', `/sessions/${name}/result`);
    assert.equal(result, 'I have heard.');
    const { state_update_status } = await server.call('GET', '/sessions/handed-on');
    assert.equal(state_update_status, 'completed');
  });
}

// A client that a person runs, with its input from nobody: what it prints.
export async function runByHand(server, program, args, { cwd, env }) {
  const started = promisify(execFile)(program, args, {
    cwd,
    env: clean({ ...env, BATON_DATA: server.data, PWD: cwd }), // which a shell would have set
    timeout: 300000,
  });
  started.child.stdin.end();
  const { stdout } = await started;
  return stdout;
}

// A root that a person runs: it gives its work to a child, and its model reads of that one's end, in
// whichever part of what it is sent. `run` runs the client with a prompt.
export async function parentByHand(server, model, { named, agent, run }) {
  const name = `${stemOf(named)}-child`;
  await check(`${named}: its model reads how its child has ended, and it settles`, async () => {
    const said = await run(`Give it to ${agent} as ${name}, and wait.`);
    assert.match(said, /I know how it went\.|I have heard\./);
    const child = await server.call('GET', `/sessions/${name}`);
    assert.equal(child.status, 'finished');
    assert.equal(child.state_update_status, 'completed');
    const told = model.requests.filter(({ body }) =>
      JSON.stringify(body).includes(`Session \`${name}\` has completed`),
    );
    assert.notEqual(told.length, 0, 'its model was not sent the callback');
    const parent = await settled(child.parent_session_id);
    assert.equal(parent.status, 'finished');
    assert.equal(parent.parent_session_id, null);
    const { tokens: all } = await server.call('GET', '/tokens?limit=500');
    const held = all.filter((t) => t.scope.session_id === parent.session_id && !t.revoked_at);
    assert.deepEqual(held, []);
  });
}

// A child that writes a file, and one that must not. `write` gives the client's own tool for that.
export async function edit(server, { named, profile, project, write }) {
  for (const [permissions, exists] of [[undefined, true], ['read', false]]) {
    const stem = `${stemOf(named)}-${permissions ?? 'work'}`;
    const path = join(project, `${stem}.txt`);
    const [tool, input] = write(path, 'hello');
    const sentence = exists ? 'a child writes a file' : 'a child that may only read writes none';
    await check(`${named}: ${sentence}`, async () => {
      await server.call('POST', '/agents', { name: stem, profile, permissions });
      const prompt = `Write a note into ${path}, by ${tool} and ${btoa(JSON.stringify(input))}.`;
      const asked = { type: 'start_session', session_name: stem, agent_name: stem, prompt };
      await server.call('POST', '/runs', { ...asked, project_dir: project });
      const session = await settled(stem);
      assert.equal(session.status, 'finished', await failure(server, stem));
      assert.equal(existsSync(path), exists);
      if (exists) assert.equal(readFileSync(path, 'utf8').trim(), 'hello');
    });
  }
}
