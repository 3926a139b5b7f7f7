// events.ts: what just happened? One sentence for each event, its cause, and all of it on demand.
import { h, Child } from '../core/dom'
import { batch, memo, onEnd, signal } from '../core/signal'
import { rows } from '../core/rows'
import { get, query, Refused } from '../api'
import { data } from '../data'
import { command, hour, json, visible } from '../format'
import { Happened, hear, onAnew, seen } from '../live'
import { check, copy, empty, exactTime, facts, link, problem, section, select, text } from '../parts/parts'
import { split } from '../parts/split'
import { viewKeys } from '../keys'
import { address, field, go, id, setFields } from '../route'

const KEEP = 5000
const FIRST = 300 // that are read of what was before

const name = (sid: string | null | undefined): string => (sid && data().sessions.one(sid)?.session_name) || sid || 'a session'

// Whose run it is: a command is nobody's.
const worker = (d: any): string => d.session_name || (d.session_id ? name(d.session_id) : 'a command')
const run = (d: any): string => (d.session_name || d.session_id ? 'a run of ' + worker(d) : 'a command')

// What an event says, in a sentence.
const sentences: { [type: string]: (e: Happened, d: any) => string } = {
  schema_registered: (_, d) => 'schema ' + d.name + ' version ' + d.version + ' was registered',
  workflow_state_created: (e) => 'state ' + e.subject + ' was made',
  workflow_state_updated: (e, d) => 'wrote version ' + e.version + ' of ' + e.subject + (Array.isArray(d) && d.length ? ': ' + d.slice(0, 3).map((o: any) => o.path || '/').join(', ') + (d.length > 3 ? ' …' : '') : ', which changed nothing'),
  workflow_state_migrated: (e) => 'bound ' + e.subject + ' to another version of its schema',
  workflow_state_renamed: (e, d) => 'named ' + e.subject + ' ' + (d.name || 'nothing'),
  workflow_state_deleted: (e) => 'deleted ' + e.subject,
  token_revoked: (e) => 'token ' + e.subject + ' was revoked',
  agent_updated: (e, d) => 'agent ' + (d.name || e.subject) + (d.deleted ? ' was deleted' : ' was changed'),
  profile_updated: (e, d) => 'profile ' + (d.name || e.subject) + (d.deleted ? ' was deleted' : ' was changed'),
  session_created: (_, d) => 'session ' + d.session_name + ' is there' + (d.parent_session_id ? ', below ' + name(d.parent_session_id) : ''),
  session_updated: (e, d) => 'session ' + (d.session_name || name(e.subject)) + ' is ' + (d.status || 'changed') + (d.state_update_status ? ', its update ' + d.state_update_status : ''),
  session_bound: (e, d) => 'session ' + name(e.subject) + ' has the state ' + d.workflow_state_id,
  session_settled: (e, d) => 'session ' + (d.session_name || name(e.subject)) + ' has settled: ' + (d.status || ''),
  session_deleted: (e) => 'session ' + name(e.subject) + ' was deleted',
  run_enqueued: (_, d) => run(d) + ' waits for a runner' + (d.purpose && d.purpose !== 'work' ? ' (' + d.purpose + ')' : ''),
  run_claimed: (_, d) => run(d) + ' was taken by ' + (d.runner_id || 'a runner'),
  run_started: (_, d) => (d.session_id || d.session_name ? 'the agent of ' : '') + worker(d) + ' was started',
  run_stopping: (_, d) => (d.session_id || d.session_name ? 'the agent of ' : '') + worker(d) + ' is asked to end',
  run_finished: (_, d) => run(d) + ' has ended: ' + (d.status || '') + (d.error ? ', ' + d.error : ''),
  callback_waiting: (_, d) => 'the end of a child waits for ' + name(d.parent_session_id || d.session_id),
  callback_delivered: (_, d) => name(d.parent_session_id || d.session_id) + ' was told of the end of a child',
  wake_offered: (e) => 'the client of ' + name(e.subject) + ' is to be woken',
  message_sent: (e) => 'wrote to ' + name(e.subject),
  message_delivered: (e) => name(e.subject) + ' has read a message',
  approval_requested: (e, d) => name(d.session_id || e.subject) + ' asks whether it may use ' + (d.tool_name || 'a tool'),
  approval_resolved: (_, d) => 'decided: ' + (d.status || d.decision || ''),
  workflow_deployed: (e, d) => 'workflow ' + (d.workflow || d.name || e.subject) + ' version ' + (d.version || e.version || '') + ' was deployed',
  workflow_deleted: (e) => 'workflow ' + e.subject + ' was deleted',
  execution_started: (e, d) => 'execution ' + e.subject + ' of ' + (d.workflow || 'a workflow') + ' was started',
  execution_moved: (e, d) => 'execution ' + e.subject + ' moved' + (d.step ? ' at ' + d.step : ''),
  execution_ended: (e, d) => 'execution ' + e.subject + ' has ended: ' + String(d.status || '').toLowerCase(),
  execution_deleted: (e) => 'execution ' + e.subject + ' was deleted',
  incident_raised: (_, d) => 'an incident' + (d.step ? ' at ' + d.step : '') + ': ' + (d.message || d.kind || ''),
  incident_resolved: () => 'an incident was resolved',
  project_updated: (e, d) => 'project ' + (d.name || e.subject) + ' was changed',
  project_deleted: (e) => 'project ' + e.subject + ' was deleted',
  runner_joined: (e, d) => 'runner ' + (d.name || e.subject) + ' has come',
  runner_lost: (e, d) => 'runner ' + (d.name || e.subject) + ' is lost',
}

export function sentence(e: Happened): string {
  const say = sentences[e.type]
  try {
    return say ? say(e, e.data || {}) : e.type.replace(/_/g, ' ') + ' ' + e.subject
  } catch {
    return e.type.replace(/_/g, ' ') + ' ' + e.subject
  }
}

// Where what an event is about is shown.
function place(e: Happened): string | null {
  const d = e.data || {}
  if (e.type.startsWith('workflow_state_')) return address('state', e.subject, { v: e.version })
  if (e.type.startsWith('execution_') || d.execution_id) return address('executions', d.execution_id || e.subject)
  const sid = d.session_id || d.receiver_id || (e.type.startsWith('session_') || e.type.startsWith('message_') ? e.subject : null)
  return sid ? address('sessions', sid) : e.type.startsWith('runner_') ? address('health') : null
}

const listed = (e: any): Happened => ({ seq: e.seq, type: e.type, subject: e.subject, time: e.time, actor: e.actor, version: e.version || undefined, cause: e.cause || undefined, data: e.data })

export function events(): HTMLElement {
  const all = signal<Happened[]>([])
  const held = signal<Happened[]>([])
  const paused = signal(false)
  const failed = signal<Refused | null>(null)
  const loaded = signal(false)
  const type = field('type')
  const find = field('find')

  const add = (to: Happened[], more: Happened[]): Happened[] => {
    const last = to.length ? to[0].seq : 0
    return [...more.filter((e) => e.seq > last).reverse(), ...to].slice(0, KEEP)
  }
  async function first(): Promise<void> {
    try {
      const newest = seen.peek() >= 0 ? seen.peek() : (await get('/events?limit=1')).seen
      const page = await get('/events' + query({ after: Math.max(0, newest - FIRST), limit: 1000 }))
      batch(() => {
        all.set(add([], page.events.map(listed)))
        failed.set(null)
        loaded.set(true)
      })
    } catch (e) {
      if (!(e instanceof Refused)) throw e
      // The log begins later than that.
      const oldest = e.more.oldest
      if (e.status === 410 && typeof oldest === 'number') {
        const page = await get('/events' + query({ after: oldest - 1, limit: 1000 }))
        batch(() => (all.set(add([], page.events.map(listed))), loaded.set(true)))
      } else {
        failed.set(e)
      }
    }
  }
  void first()
  const off = [hear((more) => (paused.peek() ? held.set(add(held.peek(), more)) : all.set(add(all.peek(), more)))), onAnew(() => void first())]
  onEnd(() => off.forEach((f) => f()))
  const go$ = (): void => batch(() => {
    paused.set(!paused.peek())
    if (!paused.peek()) {
      all.set(add(all.peek(), [...held.peek()].reverse()))
      held.set([])
    }
  })
  viewKeys([{ keys: 'p', does: 'pause, or go on', run: go$ }])

  const shown = memo(() => {
    const w = find().toLowerCase()
    const t = type()
    return all().filter((e) => (!t || e.type === t) && (!w || (e.subject + ' ' + e.actor + ' ' + sentence(e)).toLowerCase().includes(w)))
  })
  const types = memo<[string, string][]>(() => [['', 'all kinds'], ...Object.keys(sentences).map((t) => [t, t.replace(/_/g, ' ')] as [string, string])])
  const table = rows<Happened>({
    list: shown,
    key: (e) => String(e.seq),
    label: 'Events, the newest first',
    selected: id,
    open: (e) => go('events', String(e.seq), { type: type(), find: find() }),
    row: (e) => [
      h('span', { class: 'right mono' }, () => hour(e().time)),
      h('span', { class: 'cell' }, () => visible(e().actor)),
      h('span', { class: 'grow' }, () => visible(sentence(e()))),
      h('span', { class: 'cell optional mono' }, () => '#' + e().seq),
    ],
  })
  return split({
    title: 'Events',
    view: 'events',
    tools: [
      h('label', { class: 'field' }, h('span', { class: 'hidden' }, 'Find'), h('input', { type: 'search', placeholder: 'find', value: find, oninput: (e: Event) => setFields({ find: (e.target as HTMLInputElement).value }), style: { width: '120px' } })),
      select('Kind', type, types, (v) => setFields({ type: v })),
      check('pause', paused, go$),
      () => (paused() && held().length ? h('span', { class: 'chip waiting' }, '◐ ' + held().length + ' waiting') : null),
    ],
    list: [
      () => problem(failed(), 'The log could not be read.'),
      () => (loaded() && !shown().length ? empty(all().length ? 'No event of the last ' + all().length + ' fits.' : 'Nothing has happened yet.', all().length ? undefined : command('demo', '--data', 'DIR')) : null),
      table.element,
    ],
    open: id,
    none: 'Choose an event to see all of it.',
    detail: (seq) => one(Number(seq), (n) => all.peek().find((e) => e.seq === n)),
  })
}

function one(seq: number, known: (seq: number) => Happened | undefined): Child {
  const e = signal<Happened | null>(known(seq) || null)
  const failed = signal<Refused | null>(null)
  if (!e.peek())
    get('/events' + query({ after: seq - 1, limit: 1 })).then(
      (page) => page.events[0] && page.events[0].seq === seq ? e.set(listed(page.events[0])) : failed.set(new Refused(404, 'Not found', 'there is no such event any more', {})),
      (x) => failed.set(x),
    )
  return [
    () => problem(failed()),
    () => {
      const x = e()
      if (!x) return null
      const to = place(x)
      return [
        h('header', null, h('h1', null, visible(sentence(x)))),
        facts(
          ['number', h('span', { class: 'mono' }, '#' + x.seq)],
          ['kind', x.type],
          ['when', exactTime(x.time)],
          ['who', visible(x.actor)],
          ['about', to ? link(to, visible(x.subject)) : visible(x.subject)],
          x.cause ? ['because of', link(address('events', String(x.cause)), '#' + x.cause)] : null,
        ),
        h('div', { class: 'acts' }, copy(() => json(x), 'Copy JSON'), copy(() => command('event', 'list', '--after', String(x.seq - 1), '--limit', '1'), 'Copy as command')),
        section('All of it', text(json(x.data === undefined ? null : x.data), 'data')),
      ]
    },
  ]
}
