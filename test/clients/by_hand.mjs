// by_hand.mjs: a client that a person has started, whose hooks and tools speak for one session, also
// when its conversation is resumed; and whose model reads that a child has ended.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { check, clean } from './harness.mjs';
import { say, use } from './model.mjs';

const child = { session_name: 'helper', agent_name: 'player', prompt: '{"work":[{"say":"hello"}]}' };

const parts = [
  { asked: /Start a helper\./, tools: [['start_agent_session', child]], last: 'It is started.' },
  {
    asked: /How is the helper\?/,
    tools: [['get_agent_session_result', { session_id: 'helper', wait: true }]],
    last: 'It is well.',
  },
];

export const byHandScript = (otherwise) => (view) => {
  const part = parts.find(({ asked }) => asked.test(view.asked));
  if (!part) return otherwise(view);
  const next = part.tools.find(([tool]) => !view.since.includes(tool));
  return next ? use(...next) : say(part.last);
};

// How often a model reads of the helper's end in one conversation, all of which each request has.
function timesRead(requests) {
  const texts = requests.map(({ body }) => JSON.stringify(body));
  return Math.max(...texts.map((text) => text.split('Child Session Completed').length - 1));
}

// `ask(prompt, resumed)` runs the client once, in a conversation of its own or in that one again, and
// gives what it said.
export async function byHand(server, { named, client, model, ask }) {
  const { agents } = await server.call('GET', '/agents');
  if (!agents.some(({ name }) => name === 'player'))
    await server.call('POST', '/agents', { name: 'player', profile: 'scripted' });
  const ours = async () => {
    const { sessions } = await server.call('GET', '/sessions');
    return sessions.filter((s) => new RegExp(`^(mcp-)?${client}`).test(s.session_id) && s.attended);
  };
  const delivered = async () => {
    const { events } = await server.call('GET', '/events?limit=500&type=callback_delivered');
    return events.filter((event) => JSON.stringify(event).includes('"helper"')).length;
  };
  const before = (await ours()).map((s) => s.session_id);
  const deliveredBefore = await delivered();
  const from = model.requests.length;
  await check(`${named} by hand: hooks and tools are one session, on resume too`, async () => {
    assert.match(await ask('Start a helper.', false), /It is started\./);
    assert.match(await ask('How is the helper?', true), /It is well\./);
    const helper = await server.call('GET', '/sessions/helper');
    const sessions = (await ours()).map((s) => s.session_id).filter((id) => !before.includes(id));
    assert.deepEqual(sessions, [helper.parent_session_id]);
  });
  await check(`${named} by hand: its model reads once that its child has ended`, async () => {
    assert.equal(timesRead(model.requests.slice(from)), 1);
    assert.equal(await delivered(), deliveredBefore + 1);
  });
  await server.call('DELETE', '/sessions/helper');
}

// Runs a program to its end, in a project.
export async function run(program, args, cwd, env) {
  const started = promisify(execFile)(program, args, { cwd, env: clean(env), timeout: 90000 });
  started.child.stdin.end();
  const { stdout, stderr } = await started;
  return stdout + stderr;
}
