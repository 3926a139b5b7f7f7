// sessions.ts: who is at work, and is it alive? The sessions as the trees that they are.
import { h, when, Child } from '../core/dom'
import { memo, signal } from '../core/signal'
import { rows } from '../core/rows'
import { get, part, post, Refused } from '../api'
import { allSessions, costOf, data, needsYou, Session } from '../data'
import { ago, command, count, money, shell, visible } from '../format'
import { Happened } from '../live'
import { markdown } from '../parts/markdown'
import { output } from '../parts/output'
import { act, button, check, chip, copy, empty, exactTime, facts, link, Look, problem, section, shape, text, time } from '../parts/parts'
import { split } from '../parts/split'
import { viewKeys } from '../keys'
import { address, field, go, id, setFields } from '../route'
import { now, resource, Resource } from '../store'

// ---- what a session looks like ----

export function look(s: Session): Look {
  if (needsYou(s)) return 'needs'
  if (s.status === 'failed') return 'failed'
  if (s.silent) return 'lost'
  if (s.status === 'running') return s.notice ? 'waiting' : 'running'
  if (s.status === 'pending') return 'waiting'
  if (s.status === 'finished') return 'done'
  return 'idle'
}

export function word(s: Session): string {
  if (s.silent && s.status !== 'failed' && !s.settled) return 'silent'
  if (s.status === 'pending') return 'waits for a runner'
  if (s.status === 'running' && s.notice) return 'held up'
  return s.status
}

// Its last words, or what is in its way.
const words = (s: Session): string => s.error || s.notice || s.last_event || ''

const heard = (s: Session): string => (s.settled && s.ended_at) || s.last_event_at || s.created_at

const owes = (s: Session): boolean => s.state_update_status === 'pending'

// How its person goes on with it in its own client.
export function resumeCommand(s: Session): string | null {
  if (!s.client_id) return null
  const client = s.profile || s.session_name.split('-')[0]
  const ways: { [client: string]: string[] } = {
    claude: ['claude', '--resume'], codex: ['codex', 'resume'], gemini: ['gemini', '--resume'], opencode: ['opencode', '--session'],
  }
  const way = ways[client]
  const where = s.worktree || s.project_dir
  return way ? (where ? 'cd ' + shell(where) + ' && ' : '') + [...way, shell(s.client_id)].join(' ') : null
}

// ---- the tree ----

interface Line {
  s: Session
  depth: number
  below: number // how many sessions
  cost: number // of itself and all below
  known: boolean // somebody said what it cost
  open: boolean
}

const MANY = 300 // from so many on, trees are closed at first

function lines(all: Session[], turned: Set<string>, fits: (s: Session) => boolean): Line[] {
  const children = new Map<string, Session[]>()
  const known = new Set(all.map((s) => s.session_id))
  const roots: Session[] = []
  for (const s of all) {
    const p = s.parent_session_id
    if (p && known.has(p)) {
      const list = children.get(p)
      if (list) list.push(s)
      else children.set(p, [s])
    } else {
      roots.push(s)
    }
  }
  const byTime = (a: Session, b: Session): number => (a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : a.session_id < b.session_id ? -1 : 1)
  const rank = (s: Session): number => ['needs', 'running', 'waiting', 'lost', 'idle', 'failed', 'done'].indexOf(look(s))
  roots.sort((a, b) => rank(a) - rank(b) || -byTime(a, b))
  const openFirst = all.length <= MANY
  const out: Line[] = []
  // Gives what is below and what it cost; a line is shown when it or something below fits.
  function put(s: Session, depth: number, hidden: boolean): { below: number; cost: number; known: boolean; fits: boolean } {
    const at = out.length
    const cost = costOf(s)
    const line: Line = { s, depth, below: 0, cost: cost || 0, known: cost !== null, open: openFirst !== turned.has(s.session_id) }
    let any = fits(s)
    if (!hidden) out.push(line)
    const mine = children.get(s.session_id)
    if (mine && depth < 50) {
      mine.sort(byTime)
      for (const c of mine) {
        const b = put(c, depth + 1, hidden || !line.open)
        line.below += 1 + b.below
        line.cost += b.cost
        line.known = line.known || b.known
        any = any || b.fits
      }
    }
    if (!any && !hidden) out.length = at
    return { below: line.below, cost: line.cost, known: line.known, fits: any }
  }
  for (const r of roots) put(r, 1, false)
  return out
}

export function sessions(): HTMLElement {
  const d = data()
  const turned = signal(new Set<string>())
  const project = field('project')
  const words$ = field('find')
  const list = memo(() => {
    const p = project()
    const w = words$().toLowerCase()
    return lines(d.sessions.all(), turned(), (s) => (!p || s.project === p) && (!w || (s.session_name + ' ' + (s.agent_name || '') + ' ' + words(s)).toLowerCase().includes(w)))
  })
  const turn = (key: string): void => {
    const next = new Set(turned.peek())
    if (!next.delete(key)) next.add(key)
    turned.set(next)
  }
  const chosen = memo(() => {
    const named = id()
    const s = d.sessions.all().find((x) => x.session_name === named || x.session_id === named)
    return s ? s.session_id : named
  })
  const table = rows<Line>({
    list,
    key: (l) => l.s.session_id,
    label: 'Sessions',
    role: 'tree',
    selected: chosen,
    open: (l) => go('sessions', l.s.session_name, { project: project(), find: words$() }),
    attributes: (l) => ({ 'aria-level': l.depth, 'aria-expanded': l.below ? String(l.open) : undefined }),
    keydown: (e, l) => {
      if (!l) return false
      if ((e.key === 'ArrowRight' && l.below && !l.open) || (e.key === 'ArrowLeft' && l.below && l.open)) {
        turn(l.s.session_id)
        return true
      }
      return false
    },
    row: (l) => [
      h('span', { style: { width: () => (l().depth - 1) * 16 + 'px', flex: 'none' } }),
      h('span', { class: 'twist', 'aria-hidden': 'true', onclick: (e: Event) => { if (l().below) { e.stopPropagation(); turn(l().s.session_id) } } }, () => (l().below ? (l().open ? '▾' : '▸') : '')),
      shape(() => look(l().s)),
      h('span', { class: 'name', title: () => l().s.session_name }, () => visible(l().s.session_name)),
      h('span', { class: () => 'chip ' + look(l().s) }, () => word(l().s)),
      () => (owes(l().s) ? h('span', { class: 'chip waiting' }, 'owes an update') : null),
      h('span', { class: 'cell grow' }, () => visible(words(l().s))),
      h('span', { class: 'cell optional' }, () => l().s.agent_name || ''),
      h('span', { class: 'right optional', title: 'Cost of itself and all below' }, () => (l().known ? money(l().cost) : '')),
      h('span', { class: 'right' }, time(() => heard(l().s))),
    ],
  })
  const projects = memo<[string, string][]>(() => [['', 'all'], ...[...new Set(d.sessions.all().map((s) => s.project).filter(Boolean) as string[])].sort().map((p) => [p, p] as [string, string])])
  return split({
    title: 'Sessions',
    view: 'sessions',
    tools: [
      h('label', { class: 'field' }, h('span', { class: 'hidden' }, 'Find'), h('input', { type: 'search', placeholder: 'find', value: words$, oninput: (e: Event) => setFields({ find: (e.target as HTMLInputElement).value }), style: { width: '120px' } })),
      () => (projects().length > 1 ? h('label', { class: 'field' }, 'project', h('select', { value: project, onchange: (e: Event) => setFields({ project: (e.target as HTMLSelectElement).value }) }, projects().map(([v, n]) => h('option', { value: v, selected: v === project() }, n)))) : null),
      check('ended ones too', allSessions, (v) => allSessions.set(v)),
    ],
    list: [
      () => problem(d.sessions.error(), 'The list could not be read.'),
      () =>
        d.sessions.loaded() && !list().length
          ? empty(
              d.sessions.all().length ? 'No session fits.' : 'Nobody is at work. A session is here as soon as an agent is started, by you in a folder that is wired, or by baton:',
              d.sessions.all().length ? undefined : command('session', 'start', 'hello', 'Say hello.'),
              allSessions() ? null : button('Show those that have ended', () => allSessions.set(true)),
            )
          : null,
      table.element,
    ],
    open: id,
    none: 'Choose a session to see what it does, says and costs.',
    detail: (name) => detail(name),
  })
}

// ---- one of them ----

const concerns = (name: string, s: () => Session | undefined) => (e: Happened): boolean => {
  const d = e.data || {}
  const sid = s()?.session_id
  return /^(session_|run_|message_|callback_)/.test(e.type) && [e.subject, d.session_id, d.receiver_id, d.parent_session_id, d.session_name].some((x) => x === sid || x === name)
}

function detail(name: string): Child {
  const s$: Resource<Session> = resource<Session>(() => '/sessions/' + part(name), (e) => concerns(name, () => s$.data())(e))
  const s = s$.data
  const there = memo(() => !!s())
  viewKeys([{ keys: '.', does: 'copy the baton command of what is shown', run: () => void navigator.clipboard.writeText(command('session', 'get', name)) }])
  return [
    () => problem(s$.error()),
    when(there, () => shown(name, s as () => Session)),
  ]
}

function shown(name: string, s: () => Session): Child {
  const value = <T>(f: (s: Session) => T) => memo(() => f(s()))
  const run = value((x) => x.run_id || x.result_run_id)
  return [
    h('header', null, h('h1', null, () => visible(s().session_name)), chip(() => look(s()), () => word(s())), () => (owes(s()) ? chip(() => 'waiting', () => 'owes its state an update') : null)),
    () => (s().notice ? h('p', { class: 'note' }, '◐ ', visible(s().notice!), s().notice_until ? [' until ', exactTime(s().notice_until)] : null) : null),
    () => (s().error ? h('div', { class: 'problem' }, h('p', null, '✕ ' + visible(s().error!))) : null),
    actions(name, s),
    () =>
      facts(
        ['id', h('span', { class: 'mono' }, s().session_id)],
        ['agent', s().agent_name || '–'],
        ['client', (s().profile || (s().attended ? 'started by a person' : '–')) + (s().hostname ? ' on ' + s().hostname : '')],
        ['last sign', exactTime(heard(s()))],
        ['started', exactTime(s().created_at)],
        s().parent_session_name ? ['below', link(address('sessions', s().parent_session_name!), visible(s().parent_session_name!))] : null,
        s().project ? ['project', s().project!] : null,
        ['works in', s().worktree || s().project_dir || '–'],
        s().git ? ['branch', visible(String(s().git.branch || s().git.commit || '–'))] : null,
        s().workflow_state_id ? ['state', link(address('state', s().workflow_state_id!), s().workflow_state_id!)] : null,
        ['cost', costOf(s()) === null ? 'not known: its client has not told' : money(costOf(s())!)],
        ['tokens', count(s().usage.input_tokens) + ' in, ' + count(s().usage.output_tokens) + ' out, ' + count(s().usage.cached_tokens) + ' cached'],
        s().usage.models ? ['models', Object.keys(s().usage.models).join(', ')] : null,
        ['turns', s().cycle],
      ),
    () => {
      const kids = data().sessions.all().filter((x) => x.parent_session_id === s().session_id)
      return kids.length
        ? section('Below it', h('table', { class: 'data' }, h('tbody', null, kids.map((k) => h('tr', null, h('td', null, link(address('sessions', k.session_name), visible(k.session_name))), h('td', null, chip(() => look(k), () => word(k))), h('td', null, visible(words(k))))))))
        : null
    },
    () => {
      const r = run()
      return r ? section('What it writes', output(r)) : null
    },
    () => (s().settled ? result(s().session_id) : null),
    happened(name),
  ]
}

function actions(name: string, s: () => Session): Child {
  const message = signal('')
  const mode = signal('')
  const write = (label: string, verb: string, run: (t: string) => Promise<unknown>): Child =>
    mode() === verb
      ? h(
          'form',
          {
            class: 'part',
            onsubmit: (e: Event) => e.preventDefault(),
          },
          h('label', null, label, h('textarea', { value: message.peek(), oninput: (e: Event) => message.set((e.target as HTMLTextAreaElement).value), ref: (el: HTMLTextAreaElement) => setTimeout(() => el.focus()) })),
          h('div', { class: 'acts' }, act('Send', async () => {
            if (!message.peek().trim()) throw new Refused(0, 'Empty', 'there is nothing to send yet: write something', {})
            await run(message.peek())
            message.set('')
            mode.set('')
          }, { class: 'main' })),
        )
      : null
  const toggle = (v: string) => async () => mode.set(mode.peek() === v ? '' : v)
  return [
    h(
      'div',
      { class: 'acts' },
      act('Write to it', toggle('message')),
      () => (!s().attended && s().settled ? act('Go on with it', toggle('resume')) : null),
      () => (!s().settled || s().status === 'running' ? act('Stop', () => post('/sessions/' + part(s().session_id) + '/stop', { reason: 'stopped on the page' }), { sure: 'Stop it and all below it' }) : null),
      () => {
        const c = resumeCommand(s())
        return c ? copy(() => c, 'Copy the client’s resume command', { title: c }) : null
      },
      copy(() => command('session', 'get', name), 'Copy as command'),
    ),
    () => write('What it reads with its next prompt or tool', 'message', (t) => post('/sessions/' + part(s().session_id) + '/messages', { message: t })),
    () => write('What it is to do next', 'resume', (t) => post('/runs', { type: 'resume_session', session_name: s().session_name, prompt: t })),
  ]
}

function result(sid: string): Child {
  const r = resource(() => '/sessions/' + part(sid) + '/result', () => false)
  return () => {
    const x = r.data()
    const t = x && (typeof x.result === 'string' ? x.result : x.result ? JSON.stringify(x.result, null, 2) : '')
    return t ? section('What came of it', markdown(t, 'its last words, as it wrote them')) : null
  }
}

// What it told of itself.
function happened(name: string): Child {
  const open = signal(false)
  const found = signal<any[] | null>(null)
  const failed = signal<Refused | null>(null)
  const read = async (): Promise<void> => {
    open.set(true)
    try {
      found.set((await get('/sessions/' + part(name) + '/events?limit=500')).events)
    } catch (e) {
      if (e instanceof Refused) failed.set(e)
      else throw e
    }
  }
  return section(
    'What it told of itself',
    () =>
      open()
        ? [
            problem(failed()),
            found() && !found()!.length ? h('p', { class: 'muted' }, 'Nothing yet: hooks of its client tell of prompts, tools and its own agents.') : null,
            (found() || []).slice(-60).reverse().map((e) => h('details', null, h('summary', null, h('span', { class: 'mono muted' }, ago(now.peek() - Date.parse(e.time)), ' ago '), e.event_type), text(JSON.stringify(e.data, null, 2), ''))),
          ]
        : button('Show', () => void read(), { class: 'small' }),
  )
}
