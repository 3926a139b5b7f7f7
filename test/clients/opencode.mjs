// opencode.mjs PACKAGES BATON: opencode as a child's agent, and started by hand in a project that baton
// init has wired. It has no hooks, so that a child is asked for its update in another run.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { edit, handOn, projectDirs, live, parentByHand, runByHand, script, start } from './life.mjs';
import { startModel } from './model.mjs';
import { check, end, finally_, from } from './harness.mjs';

const program = from('agents/opencode', `opencode-${process.platform}-${process.arch}/bin/opencode`);
const { home, wired, bare, env } = projectDirs('opencode', program);

const model = await startModel(script);
finally_(model.close);
const loopback = {
  npm: '@ai-sdk/anthropic',
  options: { baseURL: `${model.url}/v1`, apiKey: 'a key that nobody looks at' },
  models: { scripted: { tool_call: true, limit: { context: 100000, output: 4000 } } },
};
mkdirSync(join(home, '.config/opencode'), { recursive: true });
writeFileSync(
  join(home, '.config/opencode/opencode.json'),
  JSON.stringify({
    model: 'loopback/scripted',
    small_model: 'loopback/scripted',
    share: 'disabled',
    autoupdate: false,
    provider: { loopback },
  }),
);
const all = { ...env, OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_DEFAULT_PLUGINS: '1' };
const server = await start(all);

await server.call('POST', '/agents', { name: 'coder', profile: 'opencode' });
await live(server, {
  named: 'opencode', agent: 'coder', project: bare, how: ['work', 'state_update'],
});
await parentByHand(server, model, {
  named: 'opencode by hand',
  agent: 'coder',
  run: (prompt) => runByHand(server, program, ['run', prompt], { cwd: wired, env: all }),
});
await edit(server, {
  named: 'opencode',
  profile: 'opencode',
  project: bare,
  write: (filePath, content) => ['write', { filePath, content }],
});
await handOn(server, { named: 'opencode as a parent', agent: 'coder', project: bare });
await check('opencode: the model was asked for nothing that it does not know', () => {
  if (model.strange.length) throw new Error(model.strange.join(', '));
});
await end();
