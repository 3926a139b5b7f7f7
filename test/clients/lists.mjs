// lists.mjs PACKAGES BATON: what clients of agents find in a project that baton init has wired.
//
// No model is asked. Clients that connect to list their servers have our MCP server answer them.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { baton, check, clean, end, folder, packages, Site } from './site.mjs';

const native = `${process.platform}-${process.arch}`;
const home = folder();
const project = join(home, 'project');

// Each trusts the folder in a file of its user's, or by a variable; `says` is what it prints.
const clients = {
  claude: {
    program: `@anthropic-ai/claude-code-${native}/claude`,
    trusts: ['.claude.json', JSON.stringify({ projects: { [project]: { hasTrustDialogAccepted: true } } })],
    says: /^baton: .* [✔✓] Connected/m,
  },
  codex: {
    program: '.bin/codex',
    trusts: ['.codex/config.toml', `[projects."${project}"]\ntrust_level = "trusted"\n`],
    says: /^baton .* mcp .* enabled/m,
  },
  gemini: {
    program: '.bin/gemini',
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    says: /✓ baton: .* Connected/,
  },
  opencode: {
    program: `opencode-${native}/bin/opencode`,
    says: /✓ baton .*connected/,
  },
};

const here = Object.keys(clients).filter((name) => existsSync(path(name)));

function path(name) {
  return join(packages, 'agents', name, 'node_modules', clients[name].program);
}

function list(name, site) {
  const { trusts, env } = clients[name];
  if (trusts) {
    mkdirSync(dirname(join(home, trusts[0])), { recursive: true });
    writeFileSync(join(home, trusts[0]), trusts[1]);
  }
  const done = spawnSync(path(name), ['mcp', 'list'], {
    cwd: project,
    env: clean({
      HOME: home,
      BATON_DATA: site.data,
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ...env,
    }),
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    timeout: 60000,
  });
  return done.stdout + done.stderr;
}

if (here.length === 0) {
  console.log('no client of agents is here: make test-clients gets them');
  process.exit(77);
}
const site = await Site.start({}, '--runner', 'off');
mkdirSync(project);
const wire = ['init', '--yes', ...here.map((name) => `--${name}`), '--dir', project];
execFileSync(baton, wire, { env: clean({ HOME: home }) });

for (const name of Object.keys(clients)) {
  if (!here.includes(name)) {
    console.log(`skip ${name}: it is not here`);
    continue;
  }
  await check(`${name} mcp list: it finds baton in a wired project`, () => {
    assert.match(list(name, site), clients[name].says);
  });
}
await end();
