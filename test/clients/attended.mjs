// attended.mjs: Claude Code, Codex and opencode as a person runs them, each in a terminal.
//
// Of each: its program, what its screen shows when it can be typed at, the keys that it knows, and how a
// home is made in which it asks nothing, and asks a model on loopback.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const native = `${process.platform}-${process.arch}`;
const key = 'key-that-nobody-looks-at';

// A model that Codex does not know is given no apply_patch.
const codexModel = {
  slug: 'scripted',
  display_name: 'scripted',
  description: '',
  base_instructions: 'Do what the script says.',
  apply_patch_tool_type: 'freeform',
  shell_type: 'shell_command',
  context_window: 100000,
  truncation_policy: { mode: 'bytes', limit: 10000 },
  default_reasoning_level: null,
  supported_reasoning_levels: [],
  supports_reasoning_summaries: false,
  support_verbosity: false,
  default_verbosity: null,
  supports_parallel_tool_calls: false,
  experimental_supported_tools: [],
  visibility: 'list',
  supported_in_api: true,
  priority: 1,
};

export const clients = {
  claude: {
    title: 'Claude Code',
    program: `@anthropic-ai/claude-code-${native}/claude`,
    args: [],
    ready: /❯/,
    clear: 'C-u',
    stop: ['Escape'],
    restores: true, // what it was asked is a draft again, then
    fresh: '/clear', // begins another conversation
    resume: ['--continue'],
    exit: '/exit',
    waits: 1,
    configure({ home, project, model }) {
      const quiet = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' };
      mkdirSync(join(home, '.claude'), { recursive: true });
      writeFileSync(join(home, '.claude/settings.json'), JSON.stringify({ env: quiet }));
      const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
      const settings = {
        hasCompletedOnboarding: true,
        theme: 'dark',
        customApiKeyResponses: { approved: [key.slice(-20)] },
        projects: { [project]: trusted },
      };
      writeFileSync(join(home, '.claude.json'), JSON.stringify(settings));
      return { ANTHROPIC_BASE_URL: model, ANTHROPIC_API_KEY: key };
    },
  },
  codex: {
    title: 'Codex',
    program: '.bin/codex',
    args: [],
    asks: [/Trust all and continue/, '2', 'Enter'], // whether the hooks are to be trusted, once
    ready: /Ask Codex to do anything/,
    clear: 'C-c',
    stop: [/esc to interrupt/, 'Escape'],
    exit: '/quit',
    // What it runs in the background, with its tools, outlives it by a minute.
    left: ['app-server', 'daemon', 'stop'],
    waits: 0, // its bridge does
    configure({ home, project, model }) {
      const catalog = join(home, '.codex/catalog.json');
      mkdirSync(join(home, '.codex'), { recursive: true });
      writeFileSync(catalog, JSON.stringify({ models: [codexModel] }));
      writeFileSync(
        join(home, '.codex/config.toml'),
        `model = "scripted"
model_catalog_json = "${catalog}"
model_provider = "loopback"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.loopback]
name = "loopback"
base_url = "${model}/v1"
wire_api = "responses"
env_key = "LOOPBACK_KEY"
[projects."${project}"]
trust_level = "trusted"
`,
      );
      return { LOOPBACK_KEY: key };
    },
  },
  opencode: {
    title: 'opencode',
    program: `opencode-${native}/bin/opencode`,
    args: [],
    ready: /Ask anything|ctrl\+p/,
    clear: 'C-u',
    stop: [/esc interrupt/, 'Escape', /again to interrupt/, 'Escape'],
    restores: true,
    exit: '/exit',
    waits: 1,
    configure({ home, model }) {
      const loopback = {
        npm: '@ai-sdk/anthropic',
        options: { baseURL: `${model}/v1`, apiKey: key },
        models: { scripted: { tool_call: true, limit: { context: 100000, output: 4000 } } },
      };
      const config = join(home, '.config/opencode');
      mkdirSync(join(config, 'node_modules'), { recursive: true });
      const settings = {
        model: 'loopback/scripted',
        small_model: 'loopback/scripted',
        share: 'disabled',
        autoupdate: false,
        provider: { loopback },
      };
      writeFileSync(join(config, 'opencode.json'), JSON.stringify(settings));
      // What it would get from a registry before it runs a plugin, and needs for none of ours.
      const dependencies = { '@opencode-ai/plugin': '*' };
      writeFileSync(join(config, 'package.json'), JSON.stringify({ dependencies }));
      const lock = { lockfileVersion: 3, packages: { '': { dependencies } } };
      writeFileSync(join(config, 'package-lock.json'), JSON.stringify(lock));
      return { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_DEFAULT_PLUGINS: '1' };
    },
  },
};

// Processes whose environment or arguments have the text: { pid, words }.
export function processesWith(text) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
        return environment.includes(text) && words.length ? [{ pid: Number(pid), words }] : [];
      } catch {
        return [];
      }
    });
}
