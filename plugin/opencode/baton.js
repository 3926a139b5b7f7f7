// Written by `baton init`, which puts it right; `baton init --remove` takes it away.
//
// Tells baton what happens in a conversation of opencode, gives the agent what baton has for it, and
// wakes it when an agent that it has started is done. Does nothing where no person sits in front of it.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const program = 'BATON';
const named = { read: 'Read', write: 'Write', edit: 'Edit', bash: 'Bash', apply_patch: 'apply_patch' };

// Runs `baton hook opencode` with the event: what it answers, or nothing.
function tell(event) {
  return new Promise((done) => {
    const child = spawn(program, ['hook', 'opencode'], { stdio: ['pipe', 'pipe', 'ignore'] });
    let text = '';
    child.on('error', () => done({}));
    child.stdin.on('error', () => {});
    child.stdout.on('data', (part) => (text += part));
    child.on('close', () => {
      try {
        done(JSON.parse(text || '{}'));
      } catch {
        done({});
      }
    });
    child.stdin.end(JSON.stringify(event));
  });
}

const REST_MS = 300; // after a turn: its end by Esc is told twice, and what comes in between is not run

const contextOf = (answer) => answer.hookSpecificOutput?.additionalContext ?? '';

export const Baton = async ({ client, directory }) => {
  if (process.env.BATON_TOKEN || process.argv.includes('run')) return {};
  const conversations = new Map(); // those of a person, by their ids; null: those that agents have begun
  let over = false;

  // One thing after the other, as it happened: the end of a turn that is heard of behind the prompt that
  // has begun the next one would be taken for the end of that.
  const told = new Map(); // by conversation, what ends when all that was said has been heard
  function say(id, hook_event_name, more = {}, isPast = () => false) {
    const event = { session_id: id, cwd: directory, hook_event_name, ...more };
    const heard = (told.get(id) ?? Promise.resolve()).then(() => (isPast() ? {} : tell(event)));
    told.set(id, heard);
    return heard;
  }

  async function conversationOf(id) {
    if (!conversations.has(id)) {
      const { data } = await client.session.get({ path: { id } });
      conversations.set(id, data && !data.parentID ? { id, told: new Map(), busy: false, idleAt: 0 } : null);
    }
    return conversations.get(id);
  }

  // What there is to tell, as what the person would have typed: to the agent and the model at work.
  async function prompt({ id, agent, model }, text) {
    const body = { agent, model, parts: [{ type: 'text', text }] };
    const { error } = await client.session.promptAsync({ path: { id }, body });
    if (error) throw new Error(JSON.stringify(error));
  }

  // What is put into a turn that the person then ends by Esc stays in the history, and is not run: so it
  // waits for the end of the turn.
  async function rest(c) {
    while (!over && conversations.get(c.id) === c && (c.busy || Date.now() < c.idleAt + REST_MS))
      await new Promise((done) => setTimeout(done, REST_MS / 3));
  }

  // One process waits for each conversation; what it prints is handed over, and it hears of that.
  function wait(c) {
    if (c.waker || over) return;
    const child = spawn(program, ['hook', 'opencode', '--wait'], { stdio: ['pipe', 'pipe', 'ignore'] });
    c.waker = child;
    child.on('error', () => {});
    child.stdin.on('error', () => {});
    child.on('close', (code, signal) => {
      c.waker = undefined;
      if (signal === 'SIGKILL') wait(c); // somebody else's doing
    });
    child.stdin.write(`${JSON.stringify({ session_id: c.id })}\n`);
    createInterface({ input: child.stdout }).on('line', async (line) => {
      const said = await rest(c)
        .then(() => prompt(c, JSON.parse(line).text))
        .then(
          () => 'handed',
          (error) => String(error.message ?? error).replaceAll('\n', ' '),
        );
      child.stdin.write(`${said}\n`);
    });
  }

  async function leave(c) {
    conversations.delete(c.id);
    c.waker?.kill();
    await say(c.id, 'SessionEnd', { reason: 'other' });
  }

  return {
    'chat.message': async ({ sessionID, agent, model }, { message, parts }) => {
      const c = await conversationOf(sessionID);
      if (!c) return;
      const first = c.agent === undefined;
      c.agent = message.agent ?? agent;
      c.model = message.model ?? model;
      const typed = parts.filter((part) => part.type === 'text' && !part.synthetic);
      const answers = first ? [await say(c.id, 'SessionStart', { source: 'startup' })] : [];
      answers.push(await say(c.id, 'UserPromptSubmit', { prompt: typed.map((p) => p.text).join('\n') }));
      wait(c);
      const text = answers.map(contextOf).filter(Boolean).join('\n\n');
      const last = parts.at(-1);
      if (text && last)
        parts.push({
          id: `${last.id}b`, // which comes behind it
          sessionID,
          messageID: message.id,
          type: 'text',
          text,
          synthetic: true,
        });
    },
    'tool.execute.before': async ({ tool, sessionID, callID }, { args }) => {
      const c = named[tool] && (await conversationOf(sessionID));
      if (!c) return;
      const tool_input = { ...args, file_path: args.filePath };
      const more = { tool_name: named[tool], tool_input, tool_use_id: callID };
      const answer = await say(c.id, 'PreToolUse', more);
      const { permissionDecision, permissionDecisionReason } = answer.hookSpecificOutput ?? {};
      if (permissionDecision === 'deny') throw new Error(permissionDecisionReason);
      c.told.set(callID, contextOf(answer));
    },
    'tool.execute.after': async ({ tool, sessionID, callID, args }, output) => {
      const c = named[tool] && (await conversationOf(sessionID));
      if (!c) return;
      const tool_input = { ...args, file_path: args?.filePath };
      const more = { tool_name: named[tool], tool_input, tool_use_id: callID, tool_response: {} };
      const after = contextOf(await say(c.id, 'PostToolUse', more));
      for (const text of [c.told.get(callID), after])
        if (text) output.output += `\n\n${text}`;
      c.told.delete(callID);
    },
    event: async ({ event }) => {
      const { sessionID, info } = event.properties ?? {};
      const c = conversations.get(sessionID ?? info?.id);
      if (!c) return;
      if (event.type === 'session.deleted') return leave(c);
      if (event.type === 'session.status') {
        c.busy = event.properties.status.type !== 'idle';
        if (!c.busy) c.idleAt = Date.now();
      }
      if (event.type !== 'session.idle') return;
      // The next turn may have begun by now, whose prompt was heard of already: it ends for itself.
      const { decision, reason } = await say(c.id, 'Stop', { stop_hook_active: false }, () => c.busy);
      if (decision === 'block') await prompt(c, reason).catch(() => {});
      wait(c);
    },
    dispose: async () => {
      over = true;
      await Promise.all([...conversations.values()].filter(Boolean).map(leave));
    },
  };
};
