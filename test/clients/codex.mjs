// codex.mjs PACKAGES BATON: Codex as a child's agent, in a project that baton init has wired and in one
// that it has not; and started by hand.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask, askingScript, mustAsk } from './asking.mjs';
import { byHand, byHandScript, run as runBy } from './by_hand.mjs';
import { edit, handOn, projectDirs, live, parentByHand, runByHand, script, start } from './life.mjs';
import { startModel, use } from './model.mjs';
import { check, end, finally_, from } from './harness.mjs';

const program = from('agents/codex', '.bin/codex');
const { home, wired, bare, env } = projectDirs('codex', program);

const run = (command) => use('exec_command', { cmd: command });
const model = await startModel(askingScript(run, false, byHandScript(script)));
finally_(model.close);
mkdirSync(join(home, '.codex'));
writeFileSync(
  join(home, '.codex/config.toml'),
  `model = "scripted"
model_provider = "loopback"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.loopback]
name = "loopback"
base_url = "${model.url}/v1"
wire_api = "responses"
env_key = "LOOPBACK_KEY"
[projects."${wired}"]
trust_level = "trusted"
`,
);
const all = { ...env, LOOPBACK_KEY: 'a key that nobody looks at' };
const server = await start(all);

// Hooks that nobody has trusted do not run. A person trusts them once; here an option does.
const { source, created_at, updated_at, ...codex } = await server.call('GET', '/profiles/codex');
const trust = (line) => line.toSpliced(line.indexOf('exec') + 1, 0, '--dangerously-bypass-hook-trust');
const trusting = { ...codex, name: 'codex-trusting', start: trust(codex.start), resume: trust(codex.resume) };
await server.call('POST', '/profiles', trusting);
await server.call('POST', '/agents', { name: 'coder', profile: 'codex' });
await server.call('POST', '/agents', { name: 'trusting', profile: 'codex-trusting' });
await server.call('POST', '/agents', { name: 'asker', profile: 'codex-trusting', ask: mustAsk });

await live(server, { named: 'Codex with hooks', agent: 'trusting', project: wired, how: ['work'] });
await live(server, {
  named: 'Codex without hooks', agent: 'coder', project: bare, how: ['work', 'state_update'],
});
await parentByHand(server, model, {
  named: 'Codex by hand',
  agent: 'coder',
  run: (prompt) =>
    runByHand(server, program, ['exec', '--skip-git-repo-check', prompt], { cwd: wired, env: all }),
});
await edit(server, {
  named: 'Codex',
  profile: 'codex',
  project: bare,
  write: (path, text) => ['exec_command', { cmd: `echo ${text} >${path}` }],
});
await ask(server, { named: 'Codex', agent: 'asker', project: wired, turns: { deny: 3, allow: 4 } });
await handOn(server, { named: 'Codex as a parent', agent: 'coder', project: bare });
// Codex by hand. Hooks that are not trusted do not run: then its tools are all that it has.
let thread;
const byHandOf = (hooks) => async (prompt, resumed) => {
  const args = ['exec', ...(resumed ? ['resume'] : []), '--skip-git-repo-check', '--json'];
  if (hooks) args.push('--dangerously-bypass-hook-trust');
  const said = await runBy(program, [...args, ...(resumed ? [thread] : []), prompt], wired, {
    ...env, LOOPBACK_KEY: 'a key that nobody looks at', BATON_DATA: server.data,
  });
  thread = said.match(/"thread_id":"([^"]+)"/)?.[1];
  return said;
};
await byHand(server, { named: 'Codex', client: 'codex', model, ask: byHandOf(true) });
await byHand(server, { named: 'Codex without hooks', client: 'codex', model, ask: byHandOf(false) });
await check('Codex: the model was asked for nothing that it does not know', () => {
  if (model.strange.length) throw new Error(model.strange.join(', '));
});
await end();
