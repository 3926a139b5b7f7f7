// claude.mjs PACKAGES BATON: Claude Code as a child's agent, in a project that baton init has wired and
// in one that it has not; and started by hand.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask, askingScript, mustAsk } from './asking.mjs';
import { byHand, byHandScript, run as runBy } from './by_hand.mjs';
import { edit, handOn, projectDirs, live, parentByHand, runByHand, script, start } from './life.mjs';
import { startModel, use } from './model.mjs';
import { baton, check, end, finally_, from } from './harness.mjs';

const program = from('agents/claude', `@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`);
const { home, wired, bare, env: own } = projectDirs('claude', program);

// What its profile takes out of the environment can still be had by a setting.
mkdirSync(join(home, '.claude'));
const quiet = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' };
writeFileSync(join(home, '.claude/settings.json'), JSON.stringify({ env: quiet }));

const run = (command) => use('Bash', { command, description: 'Runs it' });
const model = await startModel(askingScript(run, true, byHandScript(script)));
finally_(model.close);
const key = 'a key that nobody looks at';
const env = { ...own, ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: key };
const server = await start(env);

await server.call('POST', '/agents', { name: 'coder', profile: 'claude', tools: ['Read'] });
await server.call('POST', '/agents', { name: 'asker', profile: 'claude', tools: ['Bash'], ask: mustAsk });
await live(server, { named: 'Claude Code with hooks', agent: 'coder', project: wired, how: ['work'] });
await live(server, {
  named: 'Claude Code without hooks', agent: 'coder', project: bare, how: ['work', 'state_update'],
});
await check('Claude Code by hand: hooks and tools speak for one session, a root, which ends', async () => {
  const id = randomUUID();
  const trusted = { projects: { [wired]: { hasTrustDialogAccepted: true } } };
  writeFileSync(join(home, '.claude.json'), JSON.stringify(trusted));
  const args = ['-p', '--session-id', id, 'Make a state.'];
  const stdout = await runByHand(server, program, args, { cwd: wired, env });
  assert.match(stdout, /It is made\./);
  const session = await server.call('GET', `/sessions/claude-${id}`);
  assert.match(session.workflow_state_id ?? 'none', /^wfstate_/);
  assert.equal(session.parent_session_id, null);
  assert.equal(session.status, 'finished');
  const { sessions } = await server.call('GET', '/sessions');
  assert.equal(sessions.filter((s) => /^(claude|mcp)-/.test(s.session_id)).length, 1);
});
await parentByHand(server, model, {
  named: 'Claude Code by hand',
  agent: 'coder',
  run: (prompt) => runByHand(server, program, ['-p', prompt], { cwd: wired, env }),
});
await edit(server, {
  named: 'Claude Code',
  profile: 'claude',
  project: bare,
  write: (file_path, content) => ['Write', { file_path, content }],
});
await ask(server, {
  named: 'Claude Code', agent: 'asker', project: wired, turns: { deny: 3, allow: 3 },
});
// By hand, where nothing but its tools is wired: no hook brings what they do not.
const tools = { mcpServers: { baton: { command: baton, args: ['mcp', '--data', server.data] } } };
let conversation;
const byTools = (prompt, resumed) => {
  if (!resumed) conversation = randomUUID();
  const which = [resumed ? '--resume' : '--session-id', conversation];
  const allowed = ['--mcp-config', JSON.stringify(tools), '--allowedTools', 'mcp__baton__*'];
  return runBy(program, ['-p', prompt, ...which, ...allowed], bare, env);
};
await byHand(server, { named: 'Claude Code without hooks', client: 'claude', model, ask: byTools });
await handOn(server, { named: 'Claude Code as a parent', agent: 'coder', project: bare });
await check('Claude Code: the model was asked for nothing that it does not know', () => {
  if (model.strange.length) throw new Error(model.strange.join(', '));
});
await end();
