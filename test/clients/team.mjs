// team.mjs PACKAGES BATON: the first screen of README.md: two Claude Codes and a Codex that a person
// starts in one repository are a team.
//
// Nothing was done before but `baton serve`, as `make run` does it, and `baton init`. The model of each
// does what the sentence that it is asked stands for; what it is sent is what its agent knows.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { clients, processesWith } from './attended.mjs';
import { baton, check, clean, end, finally_, folder, packages, Server, until } from './harness.mjs';
import { say, startModel, use } from './model.mjs';
import { needTmux, Terminal } from './terminal.mjs';

needTmux();
const programs = Object.fromEntries(
  ['claude', 'codex'].map((name) => [name, join(packages, 'agents', name, 'node_modules', clients[name].program)]),
);
for (const program of Object.values(programs))
  if (!existsSync(program)) {
    console.log(`${program} is not here: make test-clients gets it`);
    process.exit(77);
  }

const home = folder();
finally_(() => until('the end of all of them', () => processesWith(`HOME=${home}`).length === 0));
const shop = join(home, 'shop');
const file = join(shop, 'src/pay.c');

mkdirSync(join(home, 'bin'));
for (const [name, program] of Object.entries(programs)) symlinkSync(program, join(home, 'bin', name));
const path = [join(home, 'bin'), dirname(baton), process.env.PATH].join(':');
const own = { HOME: home, PATH: path, PWD: shop };
const runs = (program, ...args) =>
  execFileSync(program, args, { cwd: shop, env: clean(own), encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, 'int rate = 1;\nint cap = 1;\nint fee = 1;\n');
runs('git', 'init', '-q');

// ---- those who sit there ----

const plans = new Map(); // what a sentence stands for: tools, one after the other, or what gives one

async function script({ asked, since }) {
  const plan = [...plans].find(([sentence]) => asked.includes(sentence));
  if (!plan) return say('I have heard.');
  const [sentence, tools] = plan;
  if (since.length === tools.length) return say(`That was: ${sentence}`);
  const tool = tools[since.length];
  return typeof tool === 'function' ? tool() : tool;
}

let server;
const seats = [];
const names = () => seats.map((seat) => seat.name).sort();

class Seat {
  constructor(client) {
    this.client = clients[client];
    this.program = programs[client];
    seats.push(this);
  }

  async start() {
    this.model = await startModel(script);
    finally_(this.model.close);
    this.env = { ...own, ...this.client.configure({ home, project: shop, model: this.model.url }) };
    this.terminal = new Terminal(this.program, this.client.args, { cwd: shop, env: this.env });
    finally_(() => this.leave());
    if (this.client.asks) await this.terminal.answers(...this.client.asks);
    await this.terminal.sees(this.client.ready);
    const known = seats.map((seat) => seat.name);
    await this.terminal.say('Good morning.');
    this.name = await until('its session', async () => {
      const { sessions } = await server.call('GET', '/sessions');
      return sessions.find((s) => s.attended && !known.includes(s.session_name))?.session_name;
    });
    await this.rests();
  }

  rests() {
    return until(`the end of the turn of ${this.name}`, async () => {
      return (await server.call('GET', `/sessions/${this.name}`)).status === 'idle';
    });
  }

  // Asks it for something, which takes as many tools, and waits for the end of that.
  async does(sentence, ...tools) {
    plans.set(sentence, tools);
    await this.terminal.say(sentence);
    await this.terminal.sees(`That was: ${sentence}`.slice(0, 60)).catch((error) => {
      const [request] = this.model.requests.slice(-1);
      throw new Error(`${error.message}\nits model was sent last: ${JSON.stringify(request?.body).slice(-3000)}`);
    });
    await this.rests();
  }

  // What its model was sent that fits, once for each place of the conversation.
  sent(pattern) {
    const texts = this.model.requests.map(({ body }) => JSON.stringify(body).replaceAll('\\', ''));
    return Math.max(0, ...texts.map((text) => [...text.matchAll(new RegExp(pattern, 'g'))].length));
  }

  async hears(pattern) {
    await until(`${pattern}, to the model of ${this.name},`, () => this.sent(pattern) > 0).catch((error) => {
      const [request] = this.model.requests.slice(-1);
      throw new Error(`${error.message}; it was sent last: ${JSON.stringify(request?.body).slice(-3000)}`);
    });
    assert.equal(this.sent(pattern), 1, `${this.name}: ${pattern} was sent more than once`);
  }

  leave() {
    this.terminal.end();
    if (!this.client.left) return;
    spawnSync(this.program, this.client.left, { env: clean(this.env), cwd: shop });
    for (const { pid, words } of processesWith(`HOME=${home}`)) // what stays to look for updates
      if (words.includes(this.client.left[0])) process.kill(pid);
  }
}

const [ann, bob, cyd] = ['claude', 'claude', 'codex'].map((client) => new Seat(client));

// That it hears of it by itself, soon after.
async function soon(seat, text, since) {
  await seat.hears(text);
  const { at } = seat.model.requests.find(({ body }) => JSON.stringify(body).includes(text));
  assert.ok(at - since < 5000, `it took ${at - since} ms`);
}

// ---- what README.md promises ----

const below = await startModel(script); // that of agents which agents start
finally_(below.close);
server = await Server.start({ ...own, ...clients.claude.configure({ home, project: shop, model: below.url }) });
const holds = (sentence, body) => check(`a team: ${sentence}`, body);
let begun = false;

await holds('three that were started in one repository are members of its project', async () => {
  runs('baton', 'init', '--yes');
  for (const seat of seats) await seat.start();
  const { sessions } = await server.call('GET', '/sessions');
  assert.deepEqual(sessions.map((s) => `${s.project} ${s.session_name}`).sort(), names().map((name) => `shop ${name}`));
  begun = true;
});
if (!begun) await end();

await holds('each is told who else is at work', async () => {
  await cyd.hears(`At work here, too: .*${bob.name}.*${ann.name}`);
  await bob.hears(`At work here, too: .${ann.name}`);
});

await holds('what one writes into their state the others are told of, and see', async () => {
  const decision = { op: 'add', path: '/decisions/taxes', value: 'prices are without them' };
  await ann.does('Record that prices are without taxes.', use('state_patch', { operations: [decision] }));
  for (const other of [bob, cyd]) {
    await other.does(`Have a look, ${other.name}.`, use('state_read', {}));
    await other.hears(`Changed by others since you looked: "/decisions/taxes" by .${ann.name}`);
    await other.hears('prices are without them');
  }
});

await holds('each is told of what another has changed in a file that it comes to write', async () => {
  const read = use('Read', { file_path: file });
  const edits = (what, from, to) =>
    use('Edit', { file_path: file, old_string: `int ${what} = ${from};`, new_string: `int ${what} = ${to};` });
  const patch = `*** Begin Patch\n*** Update File: src/pay.c\n@@\n-int fee = 1;\n+int fee = 4;\n*** End Patch\n`;
  const changed = (who) => `Changed by others since you last looked: "src/pay.c" by .${who.name}`;
  await ann.does('Read what is there.', read);
  await bob.does('Read it, too.', read);
  await ann.does('Set the rate.', edits('rate', 1, 2));
  assert.equal(ann.sent('Changed by others since you last looked'), 0);
  await bob.does('Set the cap.', edits('cap', 1, 3), read);
  await bob.hears(`${changed(ann)}[^.]*. You came to write there`);
  await cyd.does('Set the fee.', use('apply_patch', patch));
  await cyd.hears(`${changed(bob)}.*${ann.name}[^.]*. You have written there now`);
  await ann.does('Set it higher.', edits('rate', 2, 5));
  await ann.hears(`${changed(cyd)}.*${bob.name}[^.]*. You came to write there`);
  assert.equal(readFileSync(file, 'utf8'), 'int rate = 5;\nint cap = 3;\nint fee = 4;\n');
});

await holds('a person writes to one of them, who is idle, and it reads that', async () => {
  const sent = Date.now();
  runs('baton', 'message', 'send', bob.name, 'look at the tests first');
  await soon(bob, 'look at the tests first', sent);
  await bob.rests();
  for (const other of [ann, cyd]) assert.equal(other.sent('look at the tests first'), 0);
});

await holds('what one of them starts wakes it when that is done, with what it has recorded', async () => {
  let ends;
  const ended = new Promise((done) => (ends = done));
  const found = { operations: [{ op: 'add', path: '/findings/till', value: 'it rings' }] };
  plans.set('Try the till.', [() => ended.then(() => use('state_patch', found))]);
  const child = { session_name: 'helper', prompt: 'Try the till.' };
  await cyd.does('Have somebody look at it.', use('start_agent_session', child));
  await until('the child at its work', () => below.requests.length > 0);
  ends();
  await until('its end', async () => (await server.call('GET', '/sessions/helper')).settled, 120000);
  await soon(cyd, 'Session `helper` has completed', Date.now());
  await cyd.rests();
});

await holds('a person sees all of them, and what each did last, in 80 columns', async () => {
  const place = { cwd: shop, env: own, width: 80 };
  const shows = new Terminal('sh', ['-c', 'baton top --once; exec sleep 60'], place);
  await shows.sees(/files that two are at/);
  for (const [seat, words] of [[ann, 'That was'], [bob, 'I have'], [cyd, 'I have']])
    assert.match(shows.screen(), new RegExp(`^${seat.name} .* ${words}`, 'm'));
});

await check('the models were asked for nothing that they do not know', () => {
  const strange = [below, ...seats.map((seat) => seat.model)].flatMap((model) => model.strange);
  if (strange.length) throw new Error(strange.join(', '));
});
await end();
