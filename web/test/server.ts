// server.ts: a server of the test's own, with a team and workflows in it, and what a person does in a terminal.
const { spawn, execFileSync } = require('node:child_process')
const { mkdtempSync, readFileSync, writeFileSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')

export class Server {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'baton-page-'))
  readonly data: string = join(this.folder, 'data')
  url = ''
  private child: any = null

  constructor(readonly program: string) {}

  // Starts it, at the same place when it is started again.
  async start(): Promise<void> {
    const listen = this.url ? this.url.replace('http://', '') : '127.0.0.1:0'
    this.child = spawn(this.program, ['serve', '--listen', listen, '--data', this.data], { stdio: ['ignore', 'pipe', 'ignore'] })
    const child = this.child
    this.url = await new Promise<string>((done, fail) => {
      let said = ''
      child.stdout.on('data', (d: any) => {
        said += d
        const found = /baton listening on (http:\S+)/.exec(said)
        if (found) done(found[1])
      })
      child.on('exit', (code: number) => fail(new Error('the server ended with ' + code + ': ' + said)))
    })
  }

  async kill(signal = 'SIGKILL'): Promise<void> {
    const child = this.child
    if (!child || child.exitCode !== null) return
    const ended = new Promise((done) => child.on('exit', done))
    child.removeAllListeners('exit')
    child.on('exit', () => undefined)
    const gone = new Promise((done) => child.once('exit', done))
    child.kill(signal)
    await Promise.race([gone, ended])
  }

  async end(): Promise<void> {
    await this.kill('SIGTERM')
    rmSync(this.folder, { recursive: true, force: true })
  }

  baton(...args: string[]): string {
    return execFileSync(this.program, args, { env: { ...process.env, BATON_DATA: this.data, BATON_URL: '', BATON_TOKEN: '' }, stdio: ['ignore', 'pipe', 'pipe'] }).toString().trim()
  }

  async ask(method: string, path: string, body?: unknown): Promise<any> {
    const r = await fetch(this.url + path, {
      method,
      headers: { Authorization: 'Bearer ' + readFileSync(join(this.data, 'operator.token'), 'utf8').trim(), 'Content-Type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
    const text = await r.text()
    if (!r.ok) throw new Error(method + ' ' + path + ': ' + r.status + ' ' + text)
    return text ? JSON.parse(text) : null
  }

  deploy(definition: unknown): void {
    const file = join(this.folder, 'definition.json')
    writeFileSync(file, JSON.stringify(definition))
    this.baton('workflow', 'deploy', file)
  }
}

// Until something is so, asked again and again; a test that waits in vain fails.
export async function until<T>(what: string, ask: () => Promise<T | null | undefined | false>, ms = 15000): Promise<T> {
  const end = Date.now() + ms
  for (;;) {
    const found = await ask()
    if (found) return found
    if (Date.now() > end) throw new Error('waited in vain for ' + what)
    await new Promise((done) => setTimeout(done, 50))
  }
}

export const HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=2</script>"\'`\u202e[x](javascript:window.hacked=3) {{x}}'

// A team that has worked, workflows that wait for somebody, and one agent that means ill.
export async function fill(s: Server): Promise<void> {
  s.baton('demo', '--data', s.data)
  s.deploy({
    workflow: 'fix-issue', on_fail: 'incident',
    steps: [
      { id: 'plan', title: 'Plan the fix', description: 'What to change, and why', outputs: ['plan'], approval: { deadline: '2h', default: 'reject', on_reject: 'plan' } },
      { id: 'code', title: 'Write it', after: ['plan'], job: 'code' },
      { id: 'docs', title: 'Write it down', after: ['plan'], when: '=false', job: 'write' },
      { id: 'ship', title: 'Ship it', after: ['code', 'docs'], job: 'deploy' },
    ],
  })
  s.deploy({
    workflow: 'nightly', on_fail: 'incident',
    steps: [
      { id: 'fetch', title: 'Fetch', run: 'true' },
      { id: 'check', title: 'Check ' + HOSTILE, after: ['fetch'], run: 'echo broken >&2; exit 7' },
      { id: 'tell', title: 'Tell everybody', after: ['check'], set: { told: true } },
    ],
  })
  for (const issue of ['Login is slow', HOSTILE]) {
    const e = await s.ask('POST', '/executions', { workflow: 'fix-issue', input: { issue }, business_key: issue.slice(0, 60) })
    await s.ask('POST', '/executions/' + e.execution_id + '/steps/plan/report', { outputs: { plan: '# Plan\n\nRead it **once**.\n\n' + issue } })
  }
  await s.ask('POST', '/executions', { workflow: 'nightly' })
  await s.ask('POST', '/workflow-schemas', { name: 'notes', description: HOSTILE, json_schema: { type: 'object', description: HOSTILE, properties: { list: { type: 'array', description: HOSTILE } } } })
  const state = await s.ask('POST', '/workflow-states', { schema_name: 'notes', name: 'hostile', initial_data: { list: [HOSTILE], [HOSTILE]: { deep: HOSTILE } } })
  await s.ask('PATCH', '/workflow-states/' + state.state_id, { operations: [{ op: 'add', path: '/list/-', value: 'two\nlines' }] })
  await s.ask('POST', '/agents', { name: 'ill', profile: 'shell', args: ['sh'] })
  await s.ask('POST', '/runs', { type: 'start_session', session_name: 'ill', agent_name: 'ill', prompt: "printf '%s\\n' '" + HOSTILE.replace(/'/g, "'\\''") + "'; exit 3" })
  await until('the end of the agent that means ill', async () => (await s.ask('GET', '/sessions/ill')).settled)
  await until('an incident', async () => (await s.ask('GET', '/incidents?status=open')).incidents.length > 0)
}
