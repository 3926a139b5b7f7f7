// harness.mjs: what the checks of this folder stand on: a server of their own, and a line for each check.
//
// A check is a sentence that says what holds; it prints one line. A program that cannot be had here
// is no failure: the script says so and ends with status 77.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export const [packages, baton] = process.argv.slice(2);

let failed = 0;
const atEnd = [];

export async function check(sentence, body) {
  try {
    await body();
    console.log(`ok   ${sentence}`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${sentence}\n     | ${String(error.stack).replaceAll('\n', '\n     | ')}`);
  }
}

// The path of a file of a package, which tools/clients.sh has put into a folder of its own.
export function from(folder, file) {
  const path = join(packages, folder, 'node_modules', file);
  if (existsSync(path)) return path;
  console.log(`${file} is not here: make test-clients gets it`);
  process.exit(77);
}

export function finally_(body) {
  atEnd.unshift(body);
}

// Ends with what was started, and with the status that the checks have earned.
export async function end() {
  for (const body of atEnd) await body();
  process.exit(failed > 0 ? 1 : 0);
}

// A folder that goes when the script ends.
export function folder() {
  const path = mkdtempSync(join(tmpdir(), 'baton-clients-'));
  finally_(() => rmSync(path, { recursive: true, force: true, maxRetries: 20 }));
  return path;
}

// What of the environment others may see: nothing of another server, nor of an agent around us.
export function clean(more = {}) {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(BATON|CLAUDE|CODEX|GEMINI|OPENCODE|ANTHROPIC|OPENAI|MCP|WORKFLOW|XDG)/.test(name),
  );
  return { ...Object.fromEntries(kept), NO_COLOR: '1', ...more };
}

// A server with a data directory of its own, and calls of its HTTP by the operator's token.
export class Server {
  static async start(env = {}, ...args) {
    const server = new Server();
    server.work = folder();
    server.data = join(env.HOME ?? server.work, '.local/state/baton'); // where a client looks for it
    server.log = '';
    server.launch = () => server.#launch(env, args);
    process.on('exit', () => server.process.kill());
    finally_(() => server.stop());
    await server.launch();
    server.token = readFileSync(join(server.data, 'operator.token'), 'utf8').trim();
    return server;
  }

  async #launch(env, args) {
    this.process = spawn(baton, ['serve', '--data', this.data, '--listen', '127.0.0.1:0', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: clean(env),
      cwd: this.work,
    });
    this.process.stderr.on('data', (text) => (this.log += text));
    this.closed = once(this.process, 'close');
    const line = await new Promise((found) => {
      createInterface({ input: this.process.stdout }).once('line', found);
      this.process.once('close', () => found(''));
    });
    if (!line) throw new Error(`the server did not start:\n${this.log}`);
    this.url = line.replace('baton listening on ', '');
  }

  // As a power cut would end it; `launch` starts it again.
  async kill() {
    this.process.kill('SIGKILL');
    await this.closed;
  }

  async stop() {
    this.process.kill('SIGTERM');
    const [code] = await this.closed;
    if (code === 0) return;
    failed++;
    console.log(`FAIL the server ends in peace\n${this.log}`);
  }

  async call(method, path, body) {
    const answer = await fetch(this.url + path, {
      method,
      headers: { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' },
      body: body && JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text && JSON.parse(text);
  }

  // A session that somebody runs by hand, and a token that speaks for it.
  async session(name, more = {}) {
    const made = await this.call('POST', '/sessions', { session_name: name, ...more });
    const scope = { session_id: made.session_id };
    const { token } = await this.call('POST', '/tokens', { kind: 'session', scope });
    return { ...made, token };
  }
}

// Until the test gives something that is true, or so much time has passed.
export async function until(what, test, ms = 20000) {
  for (const last = Date.now() + ms; ; ) {
    const found = await test();
    if (found) return found;
    if (Date.now() > last) throw new Error(`${what} did not come`);
    await new Promise((done) => setTimeout(done, 25));
  }
}
