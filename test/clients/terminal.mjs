// terminal.mjs: a program in a terminal of its own, at which the script types and looks: by tmux.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { clean, finally_, folder, until } from './harness.mjs';

// Without tmux there is nothing to look at: the script says so and ends.
export function needTmux() {
  try {
    execFileSync('tmux', ['-V'], { stdio: 'ignore' });
  } catch {
    console.log('tmux is not here');
    process.exit(77);
  }
}

export class Terminal {
  constructor(program, args, { cwd, env, width = 140 }) {
    this.socket = join(folder(), 'tmux');
    // What the server of tmux starts with, the program has; and nothing of a terminal around us.
    const { TMUX, TMUX_PANE, ...own } = clean({ ...env, TERM: 'xterm-256color', PWD: cwd });
    const size = ['-x', `${width}`, '-y', '50'];
    this.#tmux(['-f', '/dev/null', 'new-session', '-d', ...size, '-c', cwd, program, ...args], own);
    this.pid = Number(this.#tmux(['display-message', '-p', '#{pane_pid}']));
    finally_(() => this.end());
  }

  #tmux(args, env) {
    return execFileSync('tmux', ['-S', this.socket, ...args], { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  screen() {
    try {
      return this.#tmux(['capture-pane', '-p']);
    } catch {
      return '';
    }
  }

  async sees(what, ms = 60000) {
    return until(`on the screen: ${what}`, () => this.screen().match(what), ms).catch((error) => {
      throw new Error(`${error.message}; there is:\n${this.screen()}`);
    });
  }

  // Answers a question by keys until it is gone: a client may show it before it reads any.
  async answers(question, ...keys) {
    await this.sees(question, 120000);
    for (let tries = 0; tries < 10 && this.screen().match(question); tries++) {
      this.press(...keys);
      await until('the end of the question', () => !this.screen().match(question), 3000).catch(() => {});
    }
  }

  // Keys as tmux calls them, or text.
  press(...keys) {
    this.#tmux(['send-keys', ...keys]);
  }

  type(text) {
    this.#tmux(['send-keys', '-l', text]);
  }

  // A line, as a person types it: some clients take what comes in one piece for pasted.
  async say(text) {
    this.type(text);
    await this.sees(text.slice(-20).replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    this.press('Enter');
  }

  end() {
    try {
      this.#tmux(['kill-server']);
    } catch {
      // it has ended by itself
    }
  }
}
