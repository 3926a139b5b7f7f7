// waking.mjs PACKAGES BATON: Claude Code, Codex and opencode that a person runs, each in a terminal: an idle
// one is woken when an agent that it has started is done, soon and once.
//
// The model of each follows a script; what it starts plays a scenario that waits for a file, by which
// this script says when it is done.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clients, processesWith } from './attended.mjs';
import { baton, check, clean, end, finally_, packages, until } from './harness.mjs';
import { projectDirs, start } from './life.mjs';
import { say, startModel, use } from './model.mjs';
import { needTmux, Terminal } from './terminal.mjs';

needTmux();
const only = process.argv[4];
const SECONDS = 1000;

// ---- the model ----

let work; // where the files are by which children are let go
const childOf = (name) => ({
  session_name: name,
  agent_name: 'player',
  prompt: JSON.stringify({ work: [{ wait_file: join(work, name) }, { say: `I am ${name}.` }] }),
});
let busy = null; // what a turn waits for that is to be slow

let early = 0; // times that it was asked before the client had connected its tools
const tool = 'start_agent_session';

const script = async ({ asked, since, offered }) => {
  const [, name] = asked.match(/^Start (\S+)\.$/m) ?? [];
  if (name && !offered.some((offer) => (offer.name ?? offer).endsWith(tool))) {
    early++;
    return say('My tools are not there yet.');
  }
  if (name && !since.includes(tool)) return use(tool, childOf(name));
  if (/Be slow\./.test(asked) && offered.length > 1) await busy;
  return say(/\[baton /.test(asked) ? 'I have heard.' : 'It is well.');
};

const model = await startModel(script);
finally_(model.close);

// How often the model reads of a child's end in one conversation, all of which each request has.
const reads = (name) => {
  const counts = model.requests.map(
    ({ body }) => JSON.stringify(body).split(`Session \`${name}\` has completed`).length - 1,
  );
  return Math.max(0, ...counts);
};
const firstRead = (name) =>
  model.requests.find(({ body }) => JSON.stringify(body).includes(`Session \`${name}\` has completed`));

// In kB; nothing of a process that is about to end.
function memoryOf(pid) {
  try {
    return Number(readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmRSS:\s+(\d+) kB/)?.[1]);
  } catch {
    return 0;
  }
}

const isWaker = ({ words }) => words.includes('hook') && words.includes('--wait');

// ---- what holds for each ----

async function wakes(name, client) {
  const { title, program: file, args, asks, ready, clear, stop, restores, fresh, resume, exit, left, waits, configure } = client;
  const { wired = name, paused = false, within = 5 * SECONDS } = client;
  const program = join(packages, 'agents', wired, 'node_modules', file);
  if (!existsSync(program)) return console.log(`skip ${title}: it is not here; make test-clients gets it`);
  const dirs = projectDirs(wired, program);
  const env = { ...dirs.env, ...configure({ home: dirs.home, project: dirs.wired, model: model.url }) };
  const server = await start(env);
  await server.call('POST', '/agents', { name: 'player', profile: 'scripted' });
  work = server.work;
  const mine = `BATON_DATA=${server.data}`;
  const place = { cwd: dirs.wired, env: { ...env, BATON_DATA: server.data } };
  let terminal = new Terminal(program, args, place);
  const leave = () => {
    if (!left) return;
    spawnSync(program, left, { env: clean(env), cwd: dirs.wired });
    for (const { pid, words } of processesWith(mine)) // what stays to look for updates
      if (words.includes(left[0])) process.kill(pid);
  };
  finally_(leave);
  const holds = (sentence, body) => check(`${title}: ${sentence}`, body);
  const child = (id) => `${name}-${id}`;
  const wakers = () => processesWith(mine).filter(isWaker);
  // Each takes the place of the one before it.
  const oneWaits = () =>
    until('one that waits', () => {
      const all = wakers();
      return all.length === 1 && all[0];
    }).catch(() => {
      throw new Error(`expected one that waits, found ${JSON.stringify(wakers())}`);
    });

  const session = async (named) => {
    const { sessions } = await server.call('GET', '/sessions');
    return sessions.find((s) => s.session_name === named || s.session_id === named);
  };

  // A client that is about to show what it is woken with may leave a draft as it is when Enter is pressed.
  async function says(text) {
    const before = model.requests.length;
    const asked = () => model.requests.slice(before).some(({ body }) => JSON.stringify(body).includes(text));
    await terminal.say(text);
    for (let tries = 0; ; tries++) {
      const heard = await until(text, asked, 5 * SECONDS).catch((error) => {
        if (tries === 10) throw new Error(`${error.message}; its screen:\n${terminal.screen()}`);
      });
      if (heard) return;
      terminal.press('Enter');
    }
  }

  // Has the client start a child, and its turn end: what a child tells within a turn needs no waking.
  async function starts(id) {
    let started;
    while (!started) {
      const before = early;
      await says(`Start ${child(id)}.`);
      await until(`the start of ${child(id)}`, async () => {
        started = await session(child(id));
        return started || early > before;
      }, 60 * SECONDS);
    }
    const parent = () => session(started.parent_session_id);
    await until('the end of the turn', async () => (await parent()).status !== 'running');
  }

  const settled = (id) =>
    until(`the end of ${child(id)}`, async () => (await server.call('GET', `/sessions/${child(id)}`)).settled);

  // Lets the child end. Whatever the client does not have to wait for counts from its end.
  async function ends(id) {
    writeFileSync(join(work, child(id)), '');
    await settled(id);
    return Date.now();
  }

  async function hears(id, since) {
    await until(`word of ${child(id)}`, () => firstRead(child(id)), 30 * SECONDS).catch((error) => {
      throw new Error(`${error.message}; its screen:\n${terminal.screen()}`);
    });
    const took = firstRead(child(id)).at - since;
    assert.ok(took < within, `it took ${took} ms`);
    if (process.env.BATON_TIMES) console.log(`     ${child(id)}: ${took} ms`);
    await delivered(id);
  }

  // By the client's own receipt, and not again.
  async function delivered(id) {
    await until('its receipt', async () => {
      const { events } = await server.call('GET', '/events?limit=500&type=callback_delivered');
      return events.some((event) => JSON.stringify(event).includes(`"${child(id)}"`));
    });
    assert.equal(reads(child(id)), 1);
  }

  let begun = false;
  await holds('it is woken when its child is done, and a draft stays', async () => {
    if (asks) await terminal.answers(...asks);
    await terminal.sees(ready);
    await starts('first');
    terminal.type('half a draft');
    await terminal.sees('half a draft');
    await hears('first', await ends('first'));
    await terminal.sees('I have heard\\.');
    await terminal.sees('half a draft');
    terminal.press(clear);
    begun = true;
  });
  if (!begun) return;
  await holds('a server that was killed meanwhile wakes it', async () => {
    await starts('second');
    await server.kill();
    writeFileSync(join(work, child('second')), '');
    await server.launch();
    await settled('second');
    await hears('second', Date.now());
  });
  if (waits)
    await holds('it has one process that waits, of at most 3 MB', async () => {
      const all = await until('what it takes of memory', async () => memoryOf((await oneWaits()).pid));
      if (!/asan/.test(baton)) assert.ok(all <= 3072, `it has ${all} kB`);
    });
  if (waits)
    await holds('a waker that was killed costs nothing but time', async () => {
      await starts('third');
      process.kill((await oneWaits()).pid, 'SIGKILL');
      await ends('third');
      await says('How are you?');
      await hears('third', Date.now());
    });
  await holds('after a turn that the person has ended, it is woken', async () => {
    await starts('fourth');
    let done;
    busy = new Promise((found) => (done = found));
    finally_(() => done());
    // Codex has what it was asked summed up beside the turn, by a model that has one tool for that.
    const turns = () =>
      model.requests.filter(({ body }) => body.tools?.length > 1 && JSON.stringify(body).includes('Be slow.'));
    await says('Be slow.');
    for (const step of stop) await (typeof step === 'string' ? terminal.press(step) : terminal.sees(step));
    await until('the end of the turn', () => turns().every((turn) => turn.over));
    if (restores) terminal.press(clear);
    const since = await ends('fourth');
    if (paused) await says('How are you?');
    await hears('fourth', paused ? Date.now() : since);
  });
  if (fresh)
    await holds('a conversation that was begun anew hears what is its own, and nothing else', async () => {
      const parentOf = async (id) => (await session(child(id))).parent_session_id;
      await starts('fifth');
      await terminal.say(fresh);
      await until('the end of the old one', async () => (await session(await parentOf('fifth'))).status === 'finished');
      await starts('sixth');
      assert.notEqual(await parentOf('sixth'), await parentOf('fifth'));
      await ends('fifth');
      await hears('sixth', await ends('sixth'));
      await oneWaits();
      await terminal.say('How are you?');
      await until('the answer', () => model.requests.some(({ body }) => JSON.stringify(body).includes('How are you?')));
      assert.equal(reads(child('fifth')), 0);
    });
  if (resume)
    await holds('one that was killed when it had heard is told of that when it is resumed', async () => {
      await starts('seventh');
      await hears('seventh', await ends('seventh'));
      const [, id] = JSON.stringify(firstRead(child('seventh')).body).match(/\[baton (cb_\w+)\](?!.*\[baton )/s);
      await terminal.sees('I have heard\\.');
      process.kill(terminal.pid, 'SIGKILL');
      await until('the end of who waited', () => wakers().length === 0);
      terminal.end();
      terminal = new Terminal(program, [...args, ...resume], place);
      await terminal.sees(ready);
      await terminal.say('What was it?');
      const told = `Told last: [${id}] the end of \`${child('seventh')}\``;
      await until(told, () => model.requests.some(({ body }) => JSON.stringify(body).includes(told)));
      assert.equal(reads(child('seventh')), 1);
      await oneWaits();
    });
  await holds('nothing of it is left when it has ended', async () => {
    await terminal.say(exit);
    await until('its end', () => !existsSync(`/proc/${terminal.pid}`), 20 * SECONDS);
    leave();
    const others = () =>
      processesWith(mine).filter(({ words }) => /\bbaton$/.test(words[0]) && words[1] !== 'serve');
    await until('the end of all of them', () => others().length === 0).catch(() => {
      throw new Error(`there are ${JSON.stringify(others())}`);
    });
  });
}

const all = {
  ...clients,
  // Where it has no daemon, nobody can have it begin after Esc: what is queued is behind the next turn.
  'codex-alone': {
    ...clients.codex,
    title: 'Codex without its daemon',
    wired: 'codex',
    args: ['--dangerously-bypass-hook-trust'],
    asks: undefined,
    left: undefined,
    paused: true,
    within: 15 * SECONDS, // it looks into its queue every eight or so
  },
};
for (const name of Object.keys(all)) if (!only || only === name) await wakes(name, all[name]);
await check('the models were asked for nothing that they do not know', () => {
  if (model.strange.length) throw new Error(model.strange.join(', '));
});
await end();
