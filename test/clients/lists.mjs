// lists.mjs PACKAGES BATON: what clients of agents find in a project that baton init has wired, and
// whether baton doctor sees the same, in a folder that they do not trust and in one that they do.
//
// No model is asked. Clients that connect to list their servers have our MCP server answer them.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { baton, check, clean, end, folder, packages, Server } from './harness.mjs';

const native = `${process.platform}-${process.arch}`;
const home = folder();
const project = join(home, 'project');

// Each trusts the folder in a file of its user's; `says` is what it prints then.
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
    trusts: ['.gemini/trustedFolders.json', JSON.stringify({ [project]: 'TRUST_FOLDER' })],
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

function trust(name) {
  const { trusts } = clients[name];
  if (!trusts) return;
  mkdirSync(dirname(join(home, trusts[0])), { recursive: true });
  writeFileSync(join(home, trusts[0]), trusts[1]);
}

function run(server, program, ...args) {
  const done = spawnSync(program, args, {
    cwd: project,
    env: clean({
      HOME: home,
      PATH: `${join(home, 'bin')}:${process.env.PATH}`,
      BATON_DATA: server.data,
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }),
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    timeout: 180000,
  });
  return done.stdout + done.stderr;
}

// What the doctor says of each client's list: ok, or what is wrong.
function doctor(server) {
  const { checks } = JSON.parse(run(server, baton, 'doctor', '--json'));
  const of = (name) => checks.find(({ check }) => check === `${name} mcp list`);
  return Object.fromEntries(here.map((name) => [name, of(name)?.result]));
}

if (here.length === 0) {
  console.log('no client of agents is here: make test-clients gets them');
  process.exit(77);
}
const server = await Server.start({}, '--runner', 'off');
mkdirSync(project);
mkdirSync(join(home, 'bin'));
for (const name of here) symlinkSync(path(name), join(home, 'bin', name));
const wire = ['init', '--yes', ...here.map((name) => `--${name}`), '--dir', project];
execFileSync(baton, wire, { env: clean({ HOME: home }) });

await check('the doctor sees that a folder is not trusted, where the client asks for that', () => {
  const wanted = here.map((name) => [name, clients[name].trusts ? 'fail' : 'ok']);
  assert.deepEqual(doctor(server), Object.fromEntries(wanted));
});
for (const name of Object.keys(clients)) {
  if (!here.includes(name)) {
    console.log(`skip ${name}: it is not here`);
    continue;
  }
  trust(name);
  await check(`${name} mcp list: it finds baton in a wired project`, () => {
    assert.match(run(server, path(name), 'mcp', 'list'), clients[name].says);
  });
}
await check('the doctor sees that the clients use the server, and leaves nothing behind', async () => {
  assert.deepEqual(doctor(server), Object.fromEntries(here.map((name) => [name, 'ok'])));
  const { sessions } = await server.call('GET', '/sessions');
  assert.deepEqual(sessions, []);
});
await end();
