// cost.ts: what does it cost, and who? Of what clients have told: what nobody told is not known, and never zero.
import { h, svg, Child } from '../core/dom'
import { memo } from '../core/signal'
import { costOf, Session } from '../data'
import { collection } from '../store'
import { part } from '../api'
import { command, count, day, money, visible, zone } from '../format'
import { copy, empty, link, problem, section, select, tabs } from '../parts/parts'
import { address, field, setFields } from '../route'

type By = 'agent' | 'model' | 'client' | 'project' | 'tree'

const TONES = ['--running', '--lost', '--done', '--needs', '--waiting', '--failed', '--idle']
const SHOWN = 6 // others are summed up
const DAYS = 30

const known = costOf

// How much a session cost of each kind; what it cost by model its client may have told.
function shares(s: Session, by: By, names: Map<string, string>): [string, number][] {
  const cost = known(s)
  if (cost === null) return []
  if (by === 'model') {
    const models = s.usage.models || {}
    const told = Object.keys(models).map((m) => [m, Number(models[m]?.cost_usd)] as [string, number]).filter(([, c]) => Number.isFinite(c))
    const rest = cost - told.reduce((n, [, c]) => n + c, 0)
    return rest > 1e-9 || !told.length ? [...told, [Object.keys(models).length === 1 ? Object.keys(models)[0] : 'not told', Math.max(0, rest)]] : told
  }
  const value = by === 'agent' ? s.agent_name || 'no role' : by === 'client' ? s.profile || s.session_name.split('-')[0] : by === 'project' ? s.project || 'no project' : names.get(s.root_session_id) || s.root_session_id
  return [[value, cost]]
}

export function cost(): HTMLElement {
  const all = collection<Session>({
    lists: () => ['/sessions'],
    member: 'sessions',
    id: (s) => s.session_id,
    address: (id) => '/sessions/' + part(id),
    concerns: (e) => (/^(run_finished|session_settled|session_created)$/.test(e.type) ? (e.data && e.data.session_id) || (e.type.startsWith('session_') ? e.subject : '') : null),
  })
  const byField = field('by')
  const by = memo(() => (['agent', 'model', 'client', 'project', 'tree'].includes(byField()) ? (byField() as By) : 'agent'))
  const as = field('as')
  const project = field('project')
  const names = memo(() => new Map(all.all().map((s) => [s.session_id, s.session_name])))
  const sessions = memo(() => all.all().filter((s) => !project() || s.project === project()))
  const totals = memo(() => {
    const sums = new Map<string, { cost: number; n: number; input: number; output: number; cached: number }>()
    for (const s of sessions())
      for (const [k, c] of shares(s, by(), names())) {
        const t = sums.get(k) || { cost: 0, n: 0, input: 0, output: 0, cached: 0 }
        t.cost += c
        t.n++
        if (by() !== 'model') {
          t.input += s.usage.input_tokens
          t.output += s.usage.output_tokens
          t.cached += s.usage.cached_tokens
        }
        sums.set(k, t)
      }
    return [...sums].sort((a, b) => b[1].cost - a[1].cost)
  })
  const unknown = memo(() => sessions().filter((s) => known(s) === null).length)
  const sum = memo(() => sessions().reduce((n, s) => n + (known(s) || 0), 0))
  const dates = memo(() => {
    const keys = totals().slice(0, SHOWN).map(([k]) => k)
    const out = new Map<string, Map<string, number>>()
    for (const s of sessions()) {
      const d = new Date(s.created_at)
      const key = d.getFullYear() + '-' + String(d.getMonth() + 1).padStart(2, '0') + '-' + String(d.getDate()).padStart(2, '0')
      for (const [k, c] of shares(s, by(), names())) {
        const name = keys.includes(k) ? k : 'others'
        const row = out.get(key) || new Map<string, number>()
        row.set(name, (row.get(name) || 0) + c)
        out.set(key, row)
      }
    }
    return { keys, days: [...out].sort((a, b) => (a[0] < b[0] ? -1 : 1)).slice(-DAYS) }
  })
  const projects = memo<[string, string][]>(() => [['', 'all projects'], ...[...new Set(all.all().map((s) => s.project).filter(Boolean) as string[])].sort().map((p) => [p, p] as [string, string])])
  return h(
    'div',
    { class: 'page' },
    h('header', { class: 'list-head', style: { padding: '0 0 8px' } }, h('h1', null, 'Cost'), h('div', { class: 'tools' }, () => (projects().length > 1 ? select('Project', project, projects, (v) => setFields({ project: v })) : null), copy(() => command('session', 'list', '--json'), 'Copy as command'))),
    () => problem(all.error(), 'The sessions could not be read.'),
    () =>
      all.loaded() && !totals().length
        ? empty(sessions().length ? 'What the ' + sessions().length + ' sessions cost is not known: none of their clients has told. Those that baton starts tell it with the end of each turn.' : 'Nothing was done yet, so nothing cost anything. A session that baton starts tells what it cost:', command('session', 'start', 'hello', 'Say hello.'))
        : null,
    () =>
      totals().length
        ? [
            h('p', null, h('strong', null, money(sum())), ' of ' + (sessions().length - unknown()) + ' sessions, as their clients told it. ', unknown() ? h('span', { class: 'chip lost' }, '? of ' + unknown() + ' sessions it is not known') : null),
            h('div', { class: 'acts' }, tabs('By what', [['agent', 'Agent'], ['model', 'Model'], ['client', 'Client'], ['project', 'Project'], ['tree', 'Tree']], by, (v) => setFields({ by: v })), tabs('How it is shown', [['', 'Bars'], ['table', 'Table']], as, (v) => setFields({ as: v }))),
            section('By the day on which a session was begun, in ' + zone, as() === 'table' ? dayTable(dates()) : bars(dates())),
            section('In all', totalsTable(totals(), by(), sum())),
          ]
        : null,
  )
}

interface Dates {
  keys: string[]
  days: [string, Map<string, number>][]
}

const rowSum = (r: Map<string, number>): number => [...r.values()].reduce((a, b) => a + b, 0)

function bars(d: Dates): Child {
  const names = [...d.keys, ...(d.days.some(([, r]) => r.has('others')) ? ['others'] : [])]
  const most = Math.max(1e-9, ...d.days.map(([, r]) => rowSum(r)))
  const W = 900
  const H = 200
  const left = 56
  const step = Math.min(72, (W - left - 8) / Math.max(1, d.days.length))
  const every = Math.ceil(d.days.length / 7)
  const y = (v: number): number => 8 + (H - 16) * (1 - v / most)
  return [
    h('div', { class: 'drawing', tabindex: 0, role: 'group', 'aria-label': 'Bars' }, svg('svg', { viewBox: '0 0 ' + W + ' ' + (H + 24), width: W, height: H + 24, role: 'img', 'aria-label': 'Cost by day; the table has the same numbers' },
      [0, 0.5, 1].map((f) => [svg('line', { class: 'axis', x1: left, x2: W, y1: y(most * f), y2: y(most * f) }), svg('text', { class: 'soft', x: left - 6, y: y(most * f) + 4, 'text-anchor': 'end' }, money(most * f))] as Child),
      d.days.map(([date, row], i) => {
        let base = 0
        const parts = names.filter((n) => row.has(n)).map((n) => {
          const v = row.get(n)!
          const top = y(base + v)
          const height = Math.max(1, y(base) - top)
          base += v
          return svg('rect', { x: left + i * step + 4, y: top, width: Math.max(2, step - 8), height, fill: 'var(' + TONES[names.indexOf(n) % TONES.length] + ')', stroke: 'var(--ground)' }, svg('title', null, date + ' ' + n + ': ' + money(v)))
        })
        return [parts, i % every === 0 ? svg('text', { class: 'soft', x: left + i * step + step / 2, y: H + 16, 'text-anchor': 'middle' }, day(date + 'T12:00:00')) : null] as Child
      }),
    )),
    h('p', { class: 'muted' }, names.map((n, i) => [h('span', { style: { color: 'var(' + TONES[i % TONES.length] + ')' }, 'aria-hidden': 'true' }, '■'), ' ' + visible(n) + '  '])),
  ]
}

function dayTable(d: Dates): Child {
  const names = [...d.keys, ...(d.days.some(([, r]) => r.has('others')) ? ['others'] : [])]
  return h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Table' }, h('table', { class: 'data' },
    h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'Day'), names.map((n) => h('th', { scope: 'col', class: 'num' }, visible(n))), h('th', { scope: 'col', class: 'num' }, 'In all'))),
    h('tbody', null, [...d.days].reverse().map(([date, row]) => h('tr', null, h('th', { scope: 'row' }, date), names.map((n) => h('td', { class: 'num' }, row.has(n) ? money(row.get(n)!) : '')), h('td', { class: 'num' }, money(rowSum(row))))))))
}

function totalsTable(totals: [string, { cost: number; n: number; input: number; output: number; cached: number }][], by: By, sum: number): Child {
  const tokens = by !== 'model'
  return h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Table' }, h('table', { class: 'data' },
    h('thead', null, h('tr', null, h('th', { scope: 'col' }, by[0].toUpperCase() + by.slice(1)), h('th', { scope: 'col', class: 'num' }, 'Sessions'), tokens ? ['in', 'out', 'cached'].map((t) => h('th', { scope: 'col', class: 'num' }, 'Tokens ' + t)) : null, h('th', { scope: 'col', class: 'num' }, 'Cost'), h('th', { scope: 'col', class: 'num' }, 'Share'))),
    h('tbody', null, totals.slice(0, 200).map(([k, t]) => h('tr', null, h('th', { scope: 'row' }, by === 'tree' ? link(address('sessions', k), visible(k)) : visible(k)), h('td', { class: 'num' }, t.n), tokens ? [t.input, t.output, t.cached].map((n) => h('td', { class: 'num' }, count(n))) : null, h('td', { class: 'num' }, money(t.cost)), h('td', { class: 'num' }, sum ? Math.round((t.cost / sum) * 100) + ' %' : ''))))))
}
