// executions.ts: how far, what blocks, where did the time go?
import { h, svg, when, Child } from '../core/dom'
import { memo, signal, untracked } from '../core/signal'
import { rows } from '../core/rows'
import { part, post } from '../api'
import { allExecutions, data, Execution } from '../data'
import { command, hour, json, took, visible, when as whenText, zone } from '../format'
import { Happened } from '../live'
import { viewKeys } from '../keys'
import { Bar, barsOf, Step, Token, waits } from '../parts/bars'
import { act, check, chip, copy, empty, exactTime, facts, link, Look, problem, section, shape, tabs, text, time } from '../parts/parts'
import { split } from '../parts/split'
import { tree } from '../parts/tree'
import { address, field, go, id, setFields } from '../route'
import { now, resource, Resource } from '../store'

interface Whole extends Execution {
  steps?: Step[]
  tokens?: Token[]
  open_incidents: any[]
  open_approvals?: any[]
  variables: any
  result: any
  approval_seconds?: number
}

// ---- what it looks like ----

function look(e: Execution): Look {
  if (e.status === 'COMPLETED') return 'done'
  if (e.status === 'FAILED') return 'failed'
  if (e.status === 'CANCELLED') return 'idle'
  if (e.incidents || waitsForPerson(e)) return 'needs'
  return e.status === 'PAUSED' ? 'waiting' : 'running'
}

const waitsForPerson = (e: Execution): boolean => data().inbox.all().some((x) => x.who.execution_id === e.execution_id)

const word = (e: Execution): string =>
  look(e) === 'needs' ? (e.incidents ? e.incidents + (e.incidents === 1 ? ' incident' : ' incidents') : 'needs you') : e.failing ? 'failing' : e.status.toLowerCase()

const byPerson = (s: Step, tokens: Token[]): boolean => s.status === 'waiting_approval' || tokens.some((t) => t.step === s.step && (t.status === 'incident' || t.status === 'approval'))

function stepLook(s: Step, tokens: Token[]): Look {
  if (s.status === 'completed') return 'done'
  if (s.status === 'failed') return 'failed'
  if (s.status === 'skipped' || s.status === 'pending') return 'idle'
  if (byPerson(s, tokens)) return 'needs'
  return tokens.some((t) => t.step === s.step && t.status === 'backoff') ? 'waiting' : 'running'
}

export function executions(): HTMLElement {
  const d = data()
  const find = field('find')
  const list = memo(() => {
    const w = find().toLowerCase()
    return d.executions
      .all()
      .filter((e) => !w || [e.workflow, e.execution_id, e.business_key, e.session_name, e.started_by].some((x) => x && x.toLowerCase().includes(w)))
      .sort((a, b) => Number(look(b) === 'needs') - Number(look(a) === 'needs') || (a.created_at < b.created_at ? 1 : -1))
  })
  const table = rows<Execution>({
    list,
    key: (e) => e.execution_id,
    label: 'Executions',
    selected: id,
    open: (e) => go('executions', e.execution_id, { find: find() }),
    row: (e) => [
      shape(() => look(e())),
      h('span', { class: 'name' }, () => visible(e().workflow)),
      h('span', { class: () => 'chip ' + look(e()) }, () => word(e())),
      h('span', { class: 'cell grow' }, () => visible([e().business_key, e().session_name, e().reason].filter(Boolean).join(' · '))),
      h('span', { class: 'cell optional' }, () => visible(e().started_by)),
      h('span', { class: 'right' }, time(() => e().created_at)),
    ],
  })
  return split({
    title: 'Executions',
    view: 'executions',
    tools: [
      h('label', { class: 'field' }, h('span', { class: 'hidden' }, 'Find'), h('input', { type: 'search', placeholder: 'find', value: find, oninput: (e: Event) => setFields({ find: (e.target as HTMLInputElement).value }), style: { width: '120px' } })),
      check('ended ones too', allExecutions, (v) => allExecutions.set(v)),
    ],
    list: [
      () => problem(d.executions.error(), 'The list could not be read.'),
      () => (d.executions.loaded() && !list().length ? empty(d.executions.all().length ? 'No execution fits.' : 'No workflow was started yet. One is a list of steps for agents, commands and people:', d.executions.all().length ? undefined : 'baton workflow deploy FILE') : null),
      table.element,
    ],
    open: id,
    none: 'Choose an execution to see how far it is and what blocks it.',
    detail,
  })
}

// ---- one of them ----

function detail(eid: string): Child {
  const concerns = (e: Happened): boolean => /^(execution_|incident_|approval_)/.test(e.type) && (e.subject === eid || (e.data && e.data.execution_id === eid))
  const whole: Resource<Whole> = resource<Whole>(() => '/executions/' + part(eid), concerns)
  const steps: Resource<{ steps: Step[] }> = resource<{ steps: Step[] }>(() => '/executions/' + part(eid) + '/steps', concerns)
  const approvals: Resource<any> = resource(() => '/approvals?limit=500&execution=' + part(eid), concerns)
  const incidents: Resource<any> = resource(() => '/incidents?limit=500&execution=' + part(eid), concerns)
  const there = memo(() => !!whole.data())
  viewKeys([{ keys: '.', does: 'copy the baton command of what is shown', run: () => void navigator.clipboard.writeText(command('execution', 'get', eid)) }])
  return [
    () => problem(whole.error()),
    when(there, () => shown(whole.data as () => Whole, () => steps.data()?.steps || whole.data()!.steps || [], () => approvals.data()?.approvals || [], () => incidents.data()?.incidents || [], eid)),
  ]
}

function shown(e: () => Whole, steps: () => Step[], approvals: () => any[], incidents: () => any[], eid: string): Child {
  const mode = field('show')
  const status = memo(() => e().status)
  const tokens = (): Token[] => e().tokens || []
  return [
    h('header', null, h('h1', null, () => visible(e().workflow + (e().business_key ? ' ' + e().business_key : ''))), chip(() => look(e()), () => word(e())), h('span', { class: 'muted mono' }, eid)),
    () => (e().reason ? h('p', { class: 'note' }, visible(e().reason!)) : null),
    () => (e().open_approvals || []).map((a) => h('p', { class: 'note' }, '▲ ', visible(a.title), ' waits for you: ', link(address('inbox', a.approval_id), 'decide'))),
    () =>
      (e().open_incidents || []).map((i) =>
        h('div', { class: 'problem' }, h('p', null, h('strong', null, '✕ ' + visible(i.step || 'all of it') + ' stands still. '), visible(i.message)),
          h('div', { class: 'acts' }, act('Try again', () => post('/incidents/' + part(i.incident_id) + '/resolve')), link(address('inbox', i.incident_id), 'In the inbox'), copy(() => command('execution', 'retry', eid, i.step || ''), 'Copy as command'))),
      ),
    () =>
      h('div', { class: 'acts' },
        status() === 'RUNNING' ? act('Pause', () => post('/executions/' + part(eid) + '/pause', { reason: 'paused on the page' })) : null,
        status() === 'PAUSED' ? act('Go on', () => post('/executions/' + part(eid) + '/resume')) : null,
        status() === 'RUNNING' || status() === 'PAUSED' ? act('Cancel', () => post('/executions/' + part(eid) + '/cancel', { reason: 'cancelled on the page' }), { sure: 'Cancel it for good' }) : null,
        copy(() => command('execution', 'get', eid), 'Copy as command'),
      ),
    () =>
      facts(
        ['steps', done(steps()) + ' of ' + steps().length + ' done'],
        ['workflow', h('span', null, visible(e().workflow) + ' version ' + e().version)],
        ['started', [exactTime(e().created_at), ' by ' + visible(e().started_by)]],
        e().ended_at ? ['ended', [exactTime(e().ended_at), ' after ' + took(Date.parse(e().ended_at!) - Date.parse(e().created_at))]] : null,
        e().approval_seconds ? ['waited for people', took(e().approval_seconds! * 1000)] : null,
        e().session_name ? ['workspace', visible(e().session_name!)] : null,
        e().state_id ? ['its document', link(address('state', e().state_id!), e().state_id!)] : null,
      ),
    h('div', { class: 'acts' }, tabs('What is shown', [['', 'Steps'], ['time', 'Timeline'], ['graph', 'Graph'], ['values', 'Values']], mode, (v) => setFields({ show: v }))),
    () => {
      const m = mode()
      return untracked(() =>
        m === 'time' ? timeline(e, steps, tokens, approvals, incidents)
        : m === 'graph' ? graph(e, steps, tokens)
        : m === 'values' ? () => [section('Variables', tree(e().variables || {}, { label: 'Variables' })), e().result !== null && e().result !== undefined ? section('Result', tree(e().result, { label: 'Result' })) : null]
        : stepList(steps, tokens),
      )
    },
  ]
}

const done = (s: Step[]): number => s.filter((x) => x.status === 'completed' || x.status === 'skipped').length

// ---- the steps ----

const spent = (s: Step): string => (s.started_at ? took((s.ended_at ? Date.parse(s.ended_at) : now()) - Date.parse(s.started_at)) : '')

function stepList(steps: () => Step[], tokens: () => Token[]): Child {
  const open = signal(field('step')())
  return () =>
    h('ol', { class: 'steps' }, steps().map((s) => {
      const l = stepLook(s, tokens())
      const more = s.outputs !== undefined || s.error || (s.history && s.history.length) || s.violations
      return h('li', null,
        h('div', { class: 'step' },
          shape(() => l),
          h('strong', null, visible(s.title || s.step)),
          h('span', { class: 'chip ' + l }, s.status.replace(/_/g, ' ')),
          s.attempt > 1 ? h('span', { class: 'chip waiting' }, 'attempt ' + s.attempt) : null,
          h('span', { class: 'muted' }, s.waits_for ? 'waits for ' + visible(waits(s.waits_for)) : s.status === 'pending' && s.after.length ? 'after ' + s.after.join(', ') : ''),
          h('span', { class: 'right muted' }, () => spent(s)),
        ),
        s.error ? h('div', { class: 'problem' }, h('p', null, '✕ ' + visible(typeof s.error === 'string' ? s.error : json(s.error)))) : null,
        s.violations ? text(json(s.violations), 'what did not fit') : null,
        more
          ? h('details', { open: open() === s.step, ontoggle: (x: Event) => (x.target as HTMLDetailsElement).open ? open.set(s.step) : undefined },
              h('summary', null, [s.outputs !== undefined ? 'what it has given' : '', s.history && s.history.length ? s.history.length + (s.history.length === 1 ? ' attempt' : ' attempts') : ''].filter(Boolean).join(', ') || 'more'),
              (s.history || []).map((a) => h('p', null, shape(() => (a.outcome === 'completed' ? 'done' : 'failed')), ' attempt ' + a.attempt + ' ' + a.outcome + ' after ' + took(Date.parse(a.ended_at) - Date.parse(a.started_at)) + (a.error ? ': ' + visible(String(a.error)) : ''))),
              s.outputs !== undefined ? tree(s.outputs, { label: 'What ' + s.step + ' has given', depth: 3 }) : null)
          : null,
      )
    }))
}

// ---- the timeline ----

const barWords = { work: 'at work', machine: 'waited for a machine or a time', person: 'waited for a person', failed: 'an attempt that failed' }
const barNames = { work: 'at work', machine: 'machine or time', person: 'a person', failed: 'failed' }
const barTones = { work: '--running', machine: '--waiting', person: '--needs', failed: '--failed' }

function timeline(e: () => Whole, steps: () => Step[], tokens: () => Token[], approvals: () => any[], incidents: () => any[]): Child {
  const asTable = signal(false)
  return [
    h('div', { class: 'acts' }, check('as a table', asTable, (v) => asTable.set(v)), h('span', { class: 'muted' }, (Object.keys(barTones) as (keyof typeof barTones)[]).map((k) => [h('span', { style: { color: 'var(' + barTones[k] + ')' }, 'aria-hidden': 'true' }, '■'), ' ' + barNames[k] + '  ']), ' ▢ to come')),
    () => {
      const at = e().ended_at ? Date.parse(e().ended_at!) : now()
      const all = steps().map((s) => ({ s, bars: barsOf(s, tokens(), approvals(), incidents(), at) }))
      return asTable() ? barTable(all) : drawing(e(), all, at)
    },
  ]
}

function barTable(all: { s: Step; bars: Bar[] }[]): Child {
  return h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Table' }, h('table', { class: 'data' },
    h('thead', null, h('tr', null, ['Step', 'What', 'From', 'For'].map((t) => h('th', { scope: 'col' }, t)))),
    h('tbody', null, all.map(({ s, bars }) => bars.length
      ? bars.map((b, i) => h('tr', null, h('th', { scope: 'row' }, i ? '' : visible(s.title || s.step)), h('td', null, barWords[b.kind] + ': ' + visible(b.says)), h('td', null, whenText(b.from)), h('td', { class: 'mono' }, took(b.to - b.from))))
      : h('tr', null, h('th', { scope: 'row' }, visible(s.title || s.step)), h('td', { class: 'muted' }, s.status === 'skipped' ? 'skipped' : 'still to come'), h('td'), h('td'))))))
}

// At most seven labels, at round times.
function ticks(from: number, to: number, most: number): number[] {
  const sizes = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 43200, 86400, 172800, 604800]
  const size = (sizes.find((x) => (to - from) / 1000 / x <= most - 1) || 2592000) * 1000
  const out: number[] = []
  for (let t = Math.ceil(from / size) * size; t <= to && out.length < most; t += size) out.push(t)
  return out
}

function drawing(e: Whole, all: { s: Step; bars: Bar[] }[], at: number): Child {
  const from = Date.parse(e.created_at)
  const ghosts = all.filter((x) => !x.bars.length && x.s.status === 'pending').length
  const span = Math.max(1000, at - from)
  const W = Math.max(480, (document.querySelector('.detail')?.clientWidth || 860) - 36)
  const left = W < 600 ? 120 : 170
  const most = Math.floor(left / 7.2)
  const room = (W - left - 16) * (ghosts && !e.ended_at ? 0.8 : 1)
  const x = (t: number): number => left + ((t - from) / span) * room
  const rowH = 28
  const H = all.length * rowH + 32
  let ghost = 0
  return h('div', { class: 'drawing', tabindex: 0, role: 'group', 'aria-label': 'Timeline' }, svg('svg', { viewBox: '0 0 ' + W + ' ' + H, width: W, height: H, role: 'img', 'aria-label': 'Timeline of ' + all.length + ' steps in ' + zone + '; the table has the same numbers' },
    ticks(from, at, Math.min(7, Math.max(2, Math.floor(room / 72)))).map((t) => [svg('line', { class: 'axis', x1: x(t), x2: x(t), y1: 0, y2: H - 24 }), svg('text', { class: 'soft', x: x(t), y: H - 8, 'text-anchor': 'middle' }, hour(t))] as Child),
    svg('text', { class: 'soft', x: 4, y: H - 8 }, zone),
    all.map(({ s, bars }, i) => {
      const y = i * rowH + 6
      const label = visible(s.title || s.step)
      return [
        svg('text', { x: 4, y: y + 13 }, label.length > most ? label.slice(0, most - 1) + '…' : label),
        bars.map((b) => svg('rect', { x: x(b.from), y: b.kind === 'person' ? y + 3 : y, width: Math.max(3, x(b.to) - x(b.from)), height: b.kind === 'person' ? 10 : 16, rx: 2, fill: 'var(' + barTones[b.kind] + (b.kind === 'work' || b.kind === 'failed' ? ')' : '-ground)'), stroke: 'var(' + barTones[b.kind] + ')' }, svg('title', null, label + ': ' + barWords[b.kind] + ', ' + b.says + ', ' + took(b.to - b.from)))),
        !bars.length && s.status === 'pending' ? svg('rect', { x: x(at) + 8 + ghost++ * 22, y, width: 20, height: 16, rx: 2, fill: 'none', stroke: 'var(--edge)', 'stroke-dasharray': '3 2' }, svg('title', null, label + ': still to come')) : null,
        s.status === 'skipped' ? svg('text', { class: 'soft', x: left, y: y + 13 }, 'skipped') : null,
      ] as Child
    }),
    e.ended_at ? null : svg('line', { class: 'now', x1: x(at), x2: x(at), y1: 0, y2: H - 24 }, svg('title', null, 'now')),
  ))
}

// ---- the graph ----

const NODE_W = 112
const NODE_H = 36
const GAP_X = 30
const GAP_Y = 20

function graph(e: () => Whole, steps: () => Step[], tokens: () => Token[]): Child {
  const d = resource(() => '/workflows/' + part(untracked(e).workflow) + '/drawing?version=' + untracked(e).version, () => false)
  return [
    () => problem(d.error(), 'The drawing could not be read.'),
    () => {
      const g = d.data()?.drawing
      if (!g) return null
      const rowsOf = Math.max(1, ...g.nodes.map((n: any) => n.row + 1))
      const W = g.layers * (NODE_W + GAP_X) + 16
      const H = rowsOf * (NODE_H + GAP_Y) + 48
      const inLayer = new Map<number, number>()
      for (const n of g.nodes) inLayer.set(n.layer, Math.max(inLayer.get(n.layer) || 0, n.row + 1))
      const place = new Map<string, { x: number; y: number; n: any }>()
      for (const n of g.nodes) place.set(n.id, { n, x: 8 + n.layer * (NODE_W + GAP_X), y: 24 + n.row * (NODE_H + GAP_Y) + ((rowsOf - inLayer.get(n.layer)!) * (NODE_H + GAP_Y)) / 2 })
      const small = (n: any): boolean => !['work', 'call'].includes(n.kind) && !n.title
      const width = (n: any): number => (small(n) ? 52 : NODE_W)
      const list: Child[] = []
      const drawn = svg('svg', { viewBox: '0 0 ' + W + ' ' + H, width: W, height: H, role: 'img', 'aria-label': 'Graph of ' + e().workflow + '; the list below says the same' },
        svg('defs', null, svg('marker', { id: 'arrow', viewBox: '0 0 8 8', refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' }, svg('path', { d: 'M0 0L8 4L0 8z', fill: 'var(--edge)' }))),
        g.edges.map((x: any) => {
          const a = place.get(x.from)!
          const b = place.get(x.to)!
          const x1 = a.x + NODE_W / 2 + width(a.n) / 2
          const x2 = b.x + NODE_W / 2 - width(b.n) / 2
          const y1 = a.y + NODE_H / 2
          const y2 = b.y + NODE_H / 2
          const path = x.back ? 'M' + (a.x + NODE_W / 2) + ' ' + (a.y + NODE_H) + 'C' + (a.x + NODE_W / 2) + ' ' + (H - 4) + ' ' + (b.x + NODE_W / 2) + ' ' + (H - 4) + ' ' + (b.x + NODE_W / 2) + ' ' + (b.y + NODE_H) : 'M' + x1 + ' ' + y1 + 'C' + (x1 + 24) + ' ' + y1 + ' ' + (x2 - 24) + ' ' + y2 + ' ' + x2 + ' ' + y2
          return [svg('path', { d: path, fill: 'none', stroke: 'var(--edge)', 'stroke-width': 1.2, 'marker-end': 'url(#arrow)', 'stroke-dasharray': x.default ? '4 3' : undefined }), x.label ? svg('text', { class: 'soft', x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 4, 'text-anchor': 'middle' }, visible(x.label).slice(0, 16)) : null] as Child
        }),
        g.nodes.map((n: any) => {
          const p = place.get(n.id)!
          const s = steps().find((y) => y.step === n.step)
          const here = tokens().filter((t) => t.node === n.id)
          const l: Look = s && !small(n) ? stepLook(s, tokens()) : here.length ? 'running' : 'idle'
          const bad = here.some((t) => t.status === 'incident')
          const w = width(n)
          const left = p.x + NODE_W / 2 - w / 2
          const label = visible(n.title || (small(n) ? n.kind : n.id))
          list.push(h('li', null, shape(() => l), ' ' + label + (s ? ': ' + s.status.replace(/_/g, ' ') : '') + (here.length ? ', ' + here.length + (here.length === 1 ? ' mark' : ' marks') : '') + (bad ? ', an incident' : '')))
          const dashed = s ? s.status === 'pending' : !here.length
          return svg('g', null, svg('title', null, label + (s ? ': ' + s.status : '')),
            svg('rect', { x: left, y: p.y, width: w, height: NODE_H, rx: small(n) ? NODE_H / 2 : 4, fill: 'var(--' + l + '-ground)', stroke: 'var(--' + (l === 'idle' ? 'edge' : l) + ')', 'stroke-width': here.length ? 2 : 1, 'stroke-dasharray': dashed ? '4 3' : undefined }),
            svg('text', { x: left + w / 2, y: p.y + 22, 'text-anchor': 'middle' }, label.length > 16 ? label.slice(0, 15) + '…' : label),
            here.length ? [svg('circle', { cx: left + w, cy: p.y, r: 9, fill: bad ? 'var(--failed)' : 'var(--accent)' }), svg('text', { x: left + w, y: p.y + 4, 'text-anchor': 'middle', style: { fill: 'var(--ground)' } }, bad ? '!' : here.length)] : null)
        }))
      return [h('div', { class: 'drawing', tabindex: 0, role: 'group', 'aria-label': 'Graph' }, drawn), h('details', null, h('summary', null, 'As a list'), h('ul', null, list))]
    },
  ]
}

