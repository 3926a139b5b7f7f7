// asking.mjs: an agent that is a real client wants to run a command for which its role must ask.
//
// Its run ends with the question, the operator decides, and it goes on in another run. A client that
// keeps the call makes it then by itself; of another one the model has to make it again.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { say, tokens } from './model.mjs';
import { check, until } from './harness.mjs';

const command = 'touch made';
export const mustAsk = ['Bash(touch:*)'];

const ends = {
  deny: { status: 'denied', last: 'It is left.', exists: false },
  allow: { status: 'allowed', last: 'It is there.', exists: true },
};

// What the model does; what it is asked otherwise is another script's. `run`: a call of the client's
// own tool for a command.
export function askingScript(run, keepsCall, otherwise) {
  return (view) => {
    const first = view.since.length === 0;
    if (/Make the file\./.test(view.asked)) return first ? run(command) : say('I have asked.');
    if (/It was denied/.test(view.asked)) return say(ends.deny.last);
    if (/It was allowed/.test(view.asked))
      return first && !keepsCall ? run(command) : say(ends.allow.last);
    return otherwise(view);
  };
}

async function one(server, { name, agent, project, decision, turns }) {
  const { status, last, exists } = ends[decision];
  const asked = { type: 'start_session', session_name: name, agent_name: agent, prompt: 'Make the file.' };
  const { session_id } = await server.call('POST', '/runs', { ...asked, project_dir: project });
  const question = await until('its question', async () => {
    const { permissions } = await server.call('GET', '/permissions?status=waiting');
    return permissions.find((p) => p.session_id === session_id);
  }, 60000);
  assert.equal(question.tool_name, 'Bash');
  assert.equal(question.tool_input.command, command);
  const session = () => server.call('GET', `/sessions/${name}`);
  await until('the end of its run', async () => (await session()).run_id === null, 60000);
  assert.equal((await session()).settled, false);
  assert.equal(existsSync(join(project, 'made')), false);

  await server.call('POST', `/permissions/${question.permission_id}`, { decision });
  const settled = await until('its end', async () => {
    const now = await session();
    return now.settled && now;
  }, 60000);
  assert.equal(settled.status, 'finished');
  assert.equal(settled.usage.input_tokens, turns[decision] * tokens.input);
  const { result } = await server.call('GET', `/sessions/${name}/result`);
  assert.equal(result, last);
  assert.equal(existsSync(join(project, 'made')), exists);
  const { permissions } = await server.call('GET', '/permissions');
  const own = permissions.filter((p) => p.session_id === session_id);
  assert.deepEqual(own.map((p) => p.status), [status]);
}

// `turns`: how often its model is asked, by what was decided.
export async function ask(server, { named, agent, project, turns }) {
  const stem = named.replaceAll(/[^a-z]+/gi, '-').toLowerCase();
  const sentences = {
    deny: 'what it must ask for and is denied is not done, and it goes on',
    allow: 'what it must ask for and is allowed is done once, when it goes on',
  };
  for (const [decision, sentence] of Object.entries(sentences)) {
    const name = `${stem}-${decision}`;
    await check(`${named}: ${sentence}`, () => one(server, { name, agent, project, decision, turns }));
  }
}
