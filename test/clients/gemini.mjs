// gemini.mjs PACKAGES BATON: Gemini CLI as a child's agent, in a project that baton init has wired and in
// one that it has not; and started by hand.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { edit, handOn, projectDirs, live, parentByHand, runByHand, script, start } from './life.mjs';
import { startModel } from './model.mjs';
import { check, end, finally_, from, packages } from './harness.mjs';

// It ignores the file with the tools of a run where others may write to a folder above it, as in /tmp.
process.env.TMPDIR = join(packages, 'tmp');
mkdirSync(process.env.TMPDIR, { recursive: true });

const program = from('agents/gemini', '.bin/gemini');
const { home, wired, bare, env } = projectDirs('gemini', program);

const model = await startModel(script);
finally_(model.close);
mkdirSync(join(home, '.gemini'));
writeFileSync(
  join(home, '.gemini/settings.json'),
  JSON.stringify({
    model: { name: 'scripted' },
    security: { auth: { selectedType: 'gemini-api-key' } },
    privacy: { usageStatisticsEnabled: false },
    general: { enableAutoUpdate: false },
  }),
);
writeFileSync(join(home, '.gemini/trustedFolders.json'), JSON.stringify({ [wired]: 'TRUST_FOLDER' }));
const key = 'a key that nobody looks at';
const all = { ...env, GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: model.url };
const server = await start(all);

await server.call('POST', '/agents', { name: 'coder', profile: 'gemini' });
await live(server, { named: 'Gemini CLI with hooks', agent: 'coder', project: wired, how: ['work'] });
await live(server, {
  named: 'Gemini CLI without hooks', agent: 'coder', project: bare, how: ['work', 'state_update'],
});
await parentByHand(server, model, {
  named: 'Gemini CLI by hand',
  agent: 'coder',
  run: (prompt) =>
    runByHand(server, program, ['--approval-mode', 'yolo', '-p', prompt], { cwd: wired, env: all }),
});
await edit(server, {
  named: 'Gemini CLI',
  profile: 'gemini',
  project: bare,
  write: (file_path, content) => ['write_file', { file_path, content }],
});
await handOn(server, { named: 'Gemini CLI as a parent', agent: 'coder', project: bare });
await check('Gemini CLI: the model was asked for nothing that it does not know', () => {
  if (model.strange.length) throw new Error(model.strange.join(', '));
});
await end();
