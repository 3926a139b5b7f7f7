// agents.mjs: clients of agents as their makers ship them, under the profiles that start them.
//
//   node agents.mjs PROFILES FOLDER NAME…
//
// Whether each knows every option that its profile gives it, and finds our MCP server in what it is
// given. They are asked for their help and their lists alone: no model is, and nothing is started.
// Each has a home and a project of its own, in FOLDER/NAME/.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const native = `${process.platform}-${process.arch}`;
const url = 'http://127.0.0.1:9'; // nobody listens there

// Where the program is, which helps tell its options, and how it lists MCP servers: from a file of
// its project or of a variable, or (codex) from the options themselves.
const clients = {
  claude: {
    program: `@anthropic-ai/claude-code-${native}/claude`,
    helps: [['--help']],
    list: ['mcp', 'list'],
    file: '.mcp.json',
  },
  codex: {
    program: '.bin/codex',
    helps: [['exec', '--help'], ['exec', 'resume', '--help']],
    list: ['mcp', 'list'],
    by: 'options',
  },
  gemini: {
    program: '.bin/gemini',
    helps: [['--help']],
    list: ['mcp', 'list'],
    file: '.gemini/settings.json',
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  },
  opencode: {
    program: `opencode-${native}/bin/opencode`,
    helps: [['run', '--help']],
    list: ['mcp', 'list'],
    file: 'opencode.mcp.json',
    variable: 'OPENCODE_CONFIG',
  },
};

const [profiles, folder, ...names] = process.argv.slice(2);

function run(client, name, home, args, env = {}) {
  const program = join(folder, name, 'node_modules', client.program);
  const done = spawnSync(program, args, {
    cwd: join(home, 'project'),
    env: { PATH: process.env.PATH, HOME: home, NO_COLOR: '1', BATON_URL: url, BATON_TOKEN: 'ss_x', ...env },
    encoding: 'utf8',
    timeout: 120000,
  });
  if (done.error) throw done.error;
  return done.stdout + done.stderr;
}

// Every word of the profile's command lines that is an option.
function optionsOf(profile) {
  const words = [...profile.start, ...profile.resume, ...profile.options.flatMap((o) => o.args)];
  return [...new Set(words.filter((word) => /^--?[A-Za-z]/.test(word)))];
}

function unknownOptions(client, name, home, profile) {
  const help = client.helps.map((args) => run(client, name, home, args)).join('\n');
  return optionsOf(profile).filter((option) => !new RegExp(`(^|[\\s,])${option}(?=[\\s,=<[]|$)`, 'm').test(help));
}

function listed(client, name, home, profile) {
  const env = { ...client.env };
  let before = [];
  if (client.by === 'options') {
    const mcp = profile.options.find((option) => option.if === 'mcp');
    before = mcp.args.map((word) => word.replace('${BATON}', 'baton'));
  } else {
    const path = join(home, 'project', client.file);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, JSON.stringify(profile.mcp));
    if (client.variable) env[client.variable] = path;
  }
  return run(client, name, home, [...before, ...client.list], env);
}

function check(name) {
  const client = clients[name];
  const profile = JSON.parse(readFileSync(join(profiles, `${name}.json`), 'utf8'));
  const home = mkdtempSync(join(folder, name, 'home-'));
  try {
    mkdirSync(join(home, 'project'));
    const unknown = unknownOptions(client, name, home, profile);
    if (unknown.length) return `does not know ${unknown.join(' ')}`;
    const list = listed(client, name, home, profile);
    return /\bbaton\b/.test(list) ? '' : `does not find our MCP server:\n${list}`;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

let failed = 0;
for (const name of names) {
  if (!existsSync(join(folder, name, 'node_modules', clients[name].program))) {
    console.log(`skip ${name}: there is no program of it for ${native}`);
    continue;
  }
  const problem = check(name);
  console.log(problem ? `FAIL ${name} ${problem}` : `ok   ${name}`);
  if (problem) failed = 1;
}
process.exit(failed);
