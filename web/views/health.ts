// health.ts: would I notice if it broke? What the server needs, and whether it is there.
import { h, Child } from '../core/dom'
import { memo, signal, onEnd } from '../core/signal'
import { get, Refused } from '../api'
import { data, Session } from '../data'
import { ago, command, visible, when } from '../format'
import { live, seen } from '../live'
import { act, chip, command as commandBox, copy, empty, exactTime, link, Look, problem, section, time } from '../parts/parts'
import { address } from '../route'
import { call, part } from '../api'
import { who } from '../sign'
import { now, resource } from '../store'

interface Line {
  name: string
  look: Look
  word: string
  more: Child
  next?: string
}

function table(label: string, lines: () => Line[]): HTMLElement {
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Table' },
    h('table', { class: 'data' }, h('caption', { class: 'hidden' }, label), h('tbody', null, () =>
      lines().map((l) =>
        h('tr', null, h('th', { scope: 'row' }, l.name), h('td', null, chip(() => l.look, () => l.word)), h('td', null, l.more, l.next ? [' ', commandBox(l.next)] : null)),
      ),
    )),
  )
}

const clientOf = (s: Session): string => s.profile || s.session_name.split('-')[0]

export function health(): HTMLElement {
  const d = data()
  const ready = signal<any>(null)
  const version = signal('')
  const unready = signal<Refused | null>(null)
  async function look(): Promise<void> {
    try {
      version.set((await get('/health')).version)
      ready.set(await get('/ready'))
      unready.set(null)
    } catch (e) {
      if (!(e instanceof Refused)) throw e
      unready.set(e)
    }
  }
  void look()
  const timer = window.setInterval(look, 10000)
  onEnd(() => clearInterval(timer))
  const nodes = resource(() => '/nodes', () => false)
  const wakes = resource(() => '/wakes?limit=100', (e) => /^(callback_|message_|wake_)/.test(e.type))
  const runners = memo<any[]>(() => d.runners.data()?.runners || [])
  const alive = memo(() => runners().filter((r) => r.alive))
  const queued = memo(() => d.sessions.all().filter((s) => s.status === 'pending').length)

  // What agents run in, and when they were last heard of.
  const clients = memo(() => {
    const by = new Map<string, { n: number; at: string; attended: number; live: number }>()
    for (const s of d.sessions.all()) {
      const c = by.get(clientOf(s)) || { n: 0, at: '', attended: 0, live: 0 }
      c.n++
      if (s.attended) c.attended++
      if (!s.settled) c.live++
      if (s.last_event_at && s.last_event_at > c.at) c.at = s.last_event_at
      by.set(clientOf(s), c)
    }
    return [...by].sort((a, b) => (a[1].at < b[1].at ? 1 : -1))
  })

  return h(
    'div',
    { class: 'page' },
    h('header', { class: 'list-head', style: { padding: '0 0 8px' } }, h('h1', null, 'Health'), h('div', { class: 'tools' }, commandBox('baton doctor'), commandBox('baton status'))),
    table('The server', () => [
      unready()
        ? { name: 'server', look: 'failed', word: unready()!.status === 0 ? 'no answer' : 'not ready', more: visible(unready()!.message), next: 'baton status' }
        : { name: 'server', look: 'done', word: 'ready', more: version() ? 'version ' + version() : '' },
      live().is === 'live'
        ? { name: 'this page', look: 'done', word: 'live', more: 'up to event #' + seen() }
        : { name: 'this page', look: 'failed', word: 'not live', more: 'what is shown may be old' },
      alive().length
        ? { name: 'runners', look: 'done', word: alive().length + ' there', more: alive().reduce((n, r) => n + r.runs, 0) + ' of ' + alive().reduce((n, r) => n + r.capacity, 0) + ' places taken' }
        : { name: 'runners', look: queued() ? 'needs' : 'idle', word: 'none', more: queued() ? queued() + ' sessions wait for one' : 'nothing that baton starts can run', next: 'baton runner' },
      ready() && ready().runner ? { name: 'its own runner', look: ready().runner.state === 'running' ? 'done' : 'failed', word: ready().runner.state, more: ready().runner.restarts ? 'was started again ' + ready().runner.restarts + ' times' : '' } : null,
      (wakes.data()?.unheard || []).length
        ? { name: 'unheard', look: 'waiting', word: wakes.data().unheard.length + ' wait', more: 'agents that people have started and whose clients cannot be woken: they hear at their next prompt' }
        : { name: 'unheard', look: 'done', word: 'none', more: 'all agents have heard what came for them' },
    ].filter(Boolean) as Line[]),
    () => problem(d.runners.error(), 'The runners could not be read.'),
    section('Runners', () =>
      runners().length
        ? h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Table' }, h('table', { class: 'data' },
            h('thead', null, h('tr', null, ['Name', '', 'Machine', 'Places', 'Folder', 'Last sign', ''].map((t) => h('th', { scope: 'col' }, t)))),
            h('tbody', null, runners().map((r) => h('tr', null,
              h('td', null, visible(r.name)), h('td', null, chip(() => (r.alive ? 'done' : 'lost'), () => (r.alive ? 'there' : 'lost'))),
              h('td', null, visible(r.hostname), r.user ? ' as ' + visible(r.user) : ''), h('td', null, r.runs + ' of ' + r.capacity), h('td', null, r.project_dir ? visible(r.project_dir) : 'any'),
              h('td', null, exactTime(r.seen_at)), h('td', null, copy(() => command('runner', 'list'), 'Copy as command')))))))
        : empty('No runner has come yet: a server has one of its own, unless it was told not to; more are started with', 'baton runner')),
    section('Clients', () =>
      clients().length
        ? h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Table' }, h('table', { class: 'data' },
            h('thead', null, h('tr', null, ['Client', 'Sessions', 'Started by people', 'Live', 'Hooks last heard'].map((t) => h('th', { scope: 'col' }, t)))),
            h('tbody', null, clients().map(([name, c]) => h('tr', null, h('td', null, visible(name)), h('td', null, c.n), h('td', null, c.attended), h('td', null, c.live), h('td', null, c.at ? exactTime(c.at) : 'never'))))))
        : empty('No client was heard of. Agents are wired in a project’s folder with', 'baton init')),
    () => ((nodes.data()?.nodes || []).length
      ? section('Nodes', h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Table' }, h('table', { class: 'data' },
          h('thead', null, h('tr', null, ['Name', '', 'Address', 'Version', 'Since', 'Last sign'].map((t) => h('th', { scope: 'col' }, t)))),
          h('tbody', null, nodes.data().nodes.map((n: any) => h('tr', null, h('td', null, visible(n.name || n.node_id)), h('td', null, chip(() => (n.alive ? 'done' : 'lost'), () => (n.alive ? 'there' : 'lost'))), h('td', null, visible(n.url || '–')), h('td', null, visible(n.version)), h('td', null, exactTime(n.started_at)), h('td', null, exactTime(n.seen_at))))))))
      : null),
    () => ((wakes.data()?.unheard || []).length
      ? section('Unheard', h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Table' }, h('table', { class: 'data' }, h('tbody', null, wakes.data().unheard.map((u: any) => h('tr', null, h('td', null, link(address('sessions', u.session_name), visible(u.session_name))), h('td', null, [u.ends ? u.ends + ' ends of children' : '', u.messages ? u.messages + ' messages' : ''].filter(Boolean).join(', ')), h('td', null, 'for ', () => ago(now() - Date.parse(u.since)))))))))
      : null),
    () => (who()?.kind === 'operator' ? pages() : null),
  )
}

// Who is signed in by a page.
function pages(): Child {
  const found = signal<any[]>([])
  const failed = signal<Refused | null>(null)
  async function read(): Promise<void> {
    try {
      const all: any[] = []
      let after: string | undefined
      do {
        const page: any = await get('/tokens?limit=500' + (after ? '&after=' + part(after) : ''))
        all.push(...page.tokens)
        after = page.next
      } while (after && all.length < 5000)
      found.set(all.filter((t) => t.scope && t.scope.page && !t.revoked_at && (!t.expires_at || Date.parse(t.expires_at) > Date.now())))
    } catch (e) {
      if (!(e instanceof Refused)) throw e
      failed.set(e)
    }
  }
  void read()
  return section('Signed in',
    () => problem(failed()),
    h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Table' }, h('table', { class: 'data' },
      h('thead', null, h('tr', null, ['Who', 'May', 'Since', 'Until', ''].map((t) => h('th', { scope: 'col' }, t)))),
      h('tbody', null, () => found().map((t) => h('tr', null, h('td', null, visible(t.name), t.token_id === who.peek()?.token_id ? ' (this page)' : ''), h('td', null, t.kind === 'viewer' ? 'look' : 'act'), h('td', null, time(() => t.created_at), ' ago'), h('td', null, exactTimeOnly(t.expires_at)),
        h('td', null, t.token_id === who.peek()?.token_id ? null : act('Revoke', async () => (await call('DELETE', '/tokens/' + part(t.token_id)), await read()), { class: 'small', sure: 'Sign it out' })))))))
  )
}

const exactTimeOnly = (t: string | null): Child => (t ? h('time', { datetime: t }, when(t)) : 'never')
