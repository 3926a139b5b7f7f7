// state.ts: what is true, who said so, when did it change? The shared documents, with all their versions.
import { h, svg, when, Child } from '../core/dom'
import { effect, memo, signal, untracked, Read } from '../core/signal'
import { rows } from '../core/rows'
import { get, part, post, query, Refused } from '../api'
import { allStates, data, StateHead } from '../data'
import { command, json, visible } from '../format'
import { viewKeys } from '../keys'
import { diff } from '../parts/diff'
import { act, button, check, copy, empty, exactTime, facts, link, problem, section, select, tabs, text, time } from '../parts/parts'
import { split } from '../parts/split'
import { tree } from '../parts/tree'
import { address, field, go, id, setFields } from '../route'
import { resource, Resource } from '../store'
import { mayAct } from '../sign'

interface State extends StateHead {
  current_data: unknown
}

interface Version {
  version: number
  seq: number
  type: string
  time: string
  actor: string
  session_id: string | null
  patch: any[]
  touch?: boolean
}

export function state(): HTMLElement {
  const d = data()
  const schema = field('schema')
  const find = field('find')
  const list = memo(() => {
    const w = find().toLowerCase()
    return d.states
      .all()
      .filter((s) => (!schema() || s.schema_name === schema()) && (!w || [s.name, s.state_id, s.root_session_name, s.schema_name].some((x) => x && x.toLowerCase().includes(w))))
      .sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1))
  })
  const chosen = memo(() => {
    const s = d.states.all().find((x) => x.name === id())
    return s ? s.state_id : id()
  })
  const table = rows<StateHead>({
    list,
    key: (s) => s.state_id,
    label: 'States',
    selected: chosen,
    open: (s) => go('state', s.state_id, { schema: schema(), find: find() }),
    row: (s) => [
      h('span', { class: 'name' }, () => visible(named(s()))),
      h('span', { class: 'cell grow' }, () => s().schema_name + (s().name && s().root_session_name ? ' · ' + visible(s().root_session_name!) : '')),
      h('span', { class: 'cell' }, () => 'v' + s().version),
      h('span', { class: 'right' }, time(() => s().updated_at)),
    ],
  })
  const schemas = memo<[string, string][]>(() => [['', 'all schemas'], ...[...new Set(d.states.all().map((s) => s.schema_name))].sort().map((n) => [n, n] as [string, string])])
  return split({
    title: 'State',
    view: 'state',
    tools: [
      h('label', { class: 'field' }, h('span', { class: 'hidden' }, 'Find'), h('input', { type: 'search', placeholder: 'find', value: find, oninput: (e: Event) => setFields({ find: (e.target as HTMLInputElement).value }), style: { width: '120px' } })),
      () => (schemas().length > 2 ? select('Schema', schema, schemas, (v) => setFields({ schema: v })) : null),
      check('only of sessions at work', () => !allStates(), (v) => allStates.set(!v)),
    ],
    list: [
      () => problem(d.states.error(), 'The list could not be read.'),
      () =>
        d.states.loaded() && !list().length
          ? empty(
              d.states.all().length ? 'No state fits.' : 'There is no state' + (allStates() ? '' : ' of a session that is at work') + '. Agents that share one write here what they have done and decided; a project has one:',
              d.states.all().length ? undefined : 'baton init',
              allStates() ? null : button('Show all states', () => allStates.set(true)),
            )
          : null,
      table.element,
    ],
    open: id,
    none: 'Choose a state to see what is in it, who wrote it and when.',
    detail,
  })
}

// How people know it: by its name, by its session, or by the execution that writes it.
export function named(s: StateHead): string {
  const e = s.schema_name === 'execution' ? data().executions.all().find((x) => x.state_id === s.state_id) : undefined
  return s.name || s.root_session_name || (e ? e.workflow + (e.business_key ? ' ' + e.business_key : '') : s.state_id)
}

// ---- one of them ----

function detail(name: string): Child {
  const head: Resource<State> = resource<State>(
    () => '/workflow-states/' + part(name),
    (e) => e.type.startsWith('workflow_state_') && (e.subject === name || e.subject === head.data()?.state_id),
  )
  const there = memo(() => !!head.data())
  viewKeys([{ keys: '.', does: 'copy the baton command of what is shown', run: () => void navigator.clipboard.writeText(command('state', 'read', name)) }])
  return [() => problem(head.error()), when(there, () => shown(head.data as () => State, head))]
}

function shown(s: () => State, head: Resource<State>): Child {
  const sid = untracked(s).state_id
  const history = resource<{ versions: Version[]; next?: number }>(
    () => '/workflow-states/' + part(sid) + '/history?limit=500',
    (e) => e.subject === sid && e.type.startsWith('workflow_state_'),
  )
  const schema = resource(() => '/workflow-states/' + part(sid) + '/schema', (e) => e.subject === sid && e.type === 'workflow_state_migrated')
  const mode = field('show')
  const v$ = field('v')
  const at = memo(() => Number(v$()) || 0) // 0: the newest
  const version = memo(() => at() || s().version)
  const older: Resource<State> = resource<State>(
    () => (at() && at() !== s().version ? '/workflow-states/' + part(sid) + query({ version: at() }) : null),
    () => false,
  )
  const document = memo(() => (at() && at() !== s().version ? older.data() : s()))
  const of = memo(() => history.data()?.versions.find((v) => v.version === version()))
  return [
    h('header', null, h('h1', null, () => visible(named(s()))), h('span', { class: 'muted mono' }, sid)),
    () =>
      facts(
        ['schema', s().schema_name + ' version ' + s().schema_version],
        ['version', s().version + ', ' + (s().version === 1 ? 'as it was made' : 'the newest')],
        ['written', exactTime(s().updated_at)],
        s().root_session_name ? ['belongs to', link(address('sessions', s().root_session_name!), visible(s().root_session_name!))] : null,
      ),
    () => ((s() as any).warning ? h('p', { class: 'note' }, String((s() as any).warning)) : null),
    slider(() => s().version, version, () => history.data()?.versions || [], (v) => setFields({ v: v === untracked(s).version ? null : v })),
    () => {
      const v = of()
      return h('p', { class: 'muted' }, 'Version ' + version(), v ? [' by ', author(v.actor, v.session_id), ', ', exactTime(v.time), v.touch ? ': nothing changed, on purpose' : ''] : '')
    },
    h(
      'div',
      { class: 'acts' },
      tabs('What is shown', [['', 'Document'], ['diff', 'Diff'], ['history', 'Versions']], mode, (v) => setFields({ show: v })),
      copy(() => json(untracked(document)?.current_data), 'Copy document'),
      copy(() => command('state', 'read', sid, ...(at() ? ['--version', String(version())] : [])), 'Copy as command'),
      () => (at() && at() !== s().version ? revert(sid, s, version, head) : null),
    ),
    () => problem(older.error(), 'This version could not be read.'),
    () => problem(history.error(), 'The versions could not be read.'),
    () => (mode() === 'diff' ? untracked(() => compare(sid, s, () => version())) : mode() === 'history' ? untracked(() => versions(history.data as any, s)) : untracked(() => content(sid, document, s, () => schema.data()?.json_schema))),
  ]
}

function author(actor: string, session: string | null): Child {
  return session ? link(address('sessions', session), visible(actor)) : visible(actor)
}

// A new version with what was true then: nothing is lost by it, so it is not asked twice.
function revert(sid: string, s: () => State, version: () => number, head: Resource<State>): Child {
  return act('Revert to version ' + version(), async () => {
    await post('/workflow-states/' + part(sid) + '/rollback', { version: version(), expected_version: untracked(s).version })
    setFields({ v: null })
    head.reload()
  })
}

// ---- versions ----

const TONES = ['--running', '--lost', '--done', '--needs', '--waiting', '--failed', '--idle']

function slider(newest: Read<number>, at: Read<number>, all: Read<Version[]>, set: (v: number) => void): Child {
  const many = memo(() => newest() > 1)
  let timer = 0
  return when(many, () =>
    h(
      'div',
      { class: 'slider' },
      h('label', null, h('span', { class: 'hidden' }, 'Version'), h('input', {
        type: 'range', min: 1, max: newest, value: () => at(), 'aria-valuetext': () => 'version ' + at() + ' of ' + newest(),
        oninput: (e: Event) => {
          const v = Number((e.target as HTMLInputElement).value)
          clearTimeout(timer)
          timer = window.setTimeout(() => set(v), 80)
        },
      })),
      () => {
        // A mark for each version, in the tone of who wrote it.
        const writers = [...new Set(all().map((v) => v.actor))]
        const width = 1000
        const x = (v: number): number => 8 + ((v - 1) / Math.max(1, newest() - 1)) * (width - 16)
        const marks = all().slice(0, 500)
        return [
          svg('svg', { viewBox: '0 0 1000 12', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, marks.map((v) => svg('rect', { x: x(v.version) - 2, y: 2, width: 4, height: 8, fill: 'var(' + TONES[writers.indexOf(v.actor) % TONES.length] + ')' }, svg('title', null, 'v' + v.version + ' ' + v.actor)))),
          h('p', { class: 'muted' }, writers.slice(0, 8).map((w, i) => [h('span', { style: { color: 'var(' + TONES[i % TONES.length] + ')' }, 'aria-hidden': 'true' }, '▮'), ' ' + visible(w) + '  '])),
        ]
      },
    ),
  )
}

function versions(history: Read<{ versions: Version[]; next?: number } | undefined>, s: () => State): Child {
  return () => {
    const h$ = history()
    if (!h$) return null
    return h(
      'div',
      { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Table' },
      h(
        'table',
        { class: 'data' },
        h('thead', null, h('tr', null, ['Version', 'When', 'Who', 'What'].map((t) => h('th', { scope: 'col' }, t)))),
        h(
          'tbody',
          null,
          h$.versions.map((v) =>
            h(
              'tr',
              null,
              h('td', { class: 'mono' }, link(address('state', s().state_id, { v: v.version, show: v.version > 1 ? 'diff' : '' }), 'v' + v.version)),
              h('td', null, time(() => v.time)),
              h('td', null, author(v.actor, v.session_id)),
              h('td', null, v.type === 'workflow_state_created' ? 'made' : v.touch ? 'nothing, on purpose' : (v.patch || []).slice(0, 6).map((o) => h('div', { class: 'mono' }, o.op + ' ' + visible(o.path || '/'))), (v.patch || []).length > 6 ? h('div', { class: 'muted' }, 'and ' + (v.patch.length - 6) + ' more') : null),
            ),
          ),
        ),
      ),
      h$.next ? h('p', { class: 'muted' }, 'Older versions: ', h('code', null, command('state', 'history', s().state_id, '--after', String(h$.next)))) : null,
    )
  }
}

// ---- the difference of any two ----

const LARGE = 300000 // characters, from which on only the patch is shown

function compare(sid: string, s: () => State, version: () => number): Child {
  const fromField = field('from')
  const to = memo(version)
  const from = memo(() => Number(fromField()) || Math.max(1, to() - 1))
  const found = signal<{ patch: any[]; left: string; right: string } | null>(null)
  const failed = signal<Refused | null>(null)
  effect(() => {
    const [a, b] = [from(), to()]
    const base = '/workflow-states/' + part(sid)
    const read = async (): Promise<void> => {
      try {
        const [p, left, right] = await Promise.all([get(base + '/diff' + query({ from: a, to: b })), get(base + query({ version: a })), get(base + query({ version: b }))])
        if (a === from() && b === to()) {
          failed.set(null)
          found.set({ patch: p.patch, left: json(left.current_data), right: json(right.current_data) })
        }
      } catch (e) {
        if (!(e instanceof Refused)) throw e
        failed.set(e)
      }
    }
    void read()
  })
  const number = (label: string, value: () => number, set: (v: number) => void): HTMLElement =>
    h('label', { class: 'field' }, label, h('input', { type: 'number', min: 1, max: () => s().version, value: () => value(), onchange: (e: Event) => set(Number((e.target as HTMLInputElement).value)), style: { width: '80px' } }))
  return [
    h('div', { class: 'acts' }, number('from version', from, (v) => setFields({ from: v })), number('to version', to, (v) => setFields({ v })), copy(() => json(found.peek()?.patch || []), 'Copy as patch'), copy(() => command('state', 'diff', sid, String(from()), String(to())), 'Copy as command')),
    () => problem(failed(), 'The two could not be compared.'),
    () => {
      const f = found()
      if (!f) return null
      if (!f.patch.length) return h('p', { class: 'muted' }, 'They are the same.')
      return f.left.length + f.right.length > LARGE ? text(json(f.patch), 'the patch from one to the other') : diff(f.left, f.right, 'version ' + untracked(from), 'version ' + untracked(to))
    },
  ]
}

// ---- the document, beside its schema ----

interface Blame {
  pointer: string
  version: number | null
  before?: number
  time?: string
  actor?: string
  session_id?: string | null
}

function content(sid: string, document: Read<State | undefined>, s: () => State, schema: Read<any>): Child {
  const chosen = signal('')
  const changed = signal(new Set<string>())
  const blames = signal(new Map<string, Map<string, Blame>>())
  const asked = new Set<string>()
  const kept = new Map<string, boolean>()
  let of = 0
  // Who wrote what is asked for the values that are seen, together with those beside them.
  const ask = (pointer: string): void => {
    if (asked.has(pointer) || asked.size > 60) return
    asked.add(pointer)
    const v = of
    get('/workflow-states/' + part(sid) + '/blame' + query({ pointer })).then(
      (b) => {
        if (v === of) blames.set(new Map(blames.peek()).set(pointer, new Map(b.entries.map((e: Blame) => [e.pointer, e]))))
      },
      () => undefined,
    )
  }
  const parent = (p: string): string => p.slice(0, p.lastIndexOf('/'))
  const blame = (p: string): Blame | undefined => (p === '' ? undefined : blames().get(parent(p))?.get(p))
  let last: State | undefined
  effect(() => {
    const d = document()
    if (!d) return
    untracked(() => {
      if (last && d.version !== last.version) {
        changed.set(changedPointers(last.current_data, d.current_data))
        asked.clear()
        blames.set(new Map())
      }
      last = d
      of = d.version
    })
  })
  const current = (): boolean => document()?.version === s().version
  return [
    () => {
      const d = document()
      if (!d) return h('p', { class: 'muted' }, 'Reading …')
      // A new version takes nothing from who is reading: what was open is, and the focus stays.
      const focused = window.document.activeElement?.closest('[data-pointer]')?.getAttribute('data-pointer')
      if (focused !== undefined && focused !== null)
        setTimeout(() => (window.document.querySelector('[data-pointer="' + CSS.escape(focused) + '"]') as HTMLElement | null)?.focus())
      return untracked(() =>
        tree(d.current_data, {
          label: 'Document of version ' + d.version,
          chosen: (p) => chosen.set(p),
          changed,
          kept,
          beside: (p) => {
            if (p === '' || !current()) return null
            ask(parent(p))
            return () => {
              const b = blame(p)
              return b && b.actor ? [visible(b.actor) + ' ', time(() => b.time)] : null
            }
          },
        }),
      )
    },
    section('About the value', () => {
      const p = chosen()
      const about = schemaAt(schema(), p)
      const b = current() ? blame(p) : undefined
      return [
        facts(
          ['pointer', h('code', null, p === '' ? 'the whole' : visible(p))],
          b ? ['written', [b.actor ? [author(b.actor, b.session_id || null), ', ', b.version ? 'v' + b.version : b.before ? 'before v' + b.before : '', ', ', exactTime(b.time)] : 'before what is kept']] : null,
          about ? ['must be', typeText(about.schema)] : null,
          about && about.required ? ['required', 'yes: it cannot be left out'] : null,
          about && about.schema.description ? ['says the schema', visible(about.schema.description)] : null,
          about && about.schema.enum ? ['one of', about.schema.enum.map((x: unknown) => JSON.stringify(x)).join(', ')] : null,
          about && about.schema['x-owner'] ? ['only written by', JSON.stringify(about.schema['x-owner'])] : null,
        ),
        p !== '' ? h('div', { class: 'acts' }, copy(() => p, 'Copy pointer'), copy(() => command('state', 'read', sid, '--pointer', p), 'Copy as command'), copy(() => command('state', 'blame', sid, '--pointer', p), 'Copy blame as command')) : null,
        mayAct() ? null : h('p', { class: 'muted' }, 'You may look, and not change.'),
      ]
    }),
    () => (schema() ? h('details', { class: 'part' }, h('summary', null, 'The whole schema'), tree(schema(), { label: 'Schema', depth: 3 })) : null),
  ]
}

function typeText(s: any): string {
  if (s === true) return 'anything'
  const t = Array.isArray(s.type) ? s.type.join(' or ') : s.type || (s.enum ? 'a value of a list' : s.const !== undefined ? JSON.stringify(s.const) : 'anything')
  const more = ['format', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'pattern'].filter((k) => s[k] !== undefined).map((k) => k + ' ' + s[k])
  return [t, ...more].join(', ')
}

// What the schema says of the value at a pointer, as far as that is said without a condition.
export function schemaAt(schema: any, pointer: string): { schema: any; required: boolean } | null {
  if (schema === undefined || schema === null) return null
  const follow = (s: any, depth = 0): any => {
    if (!s || typeof s !== 'object' || typeof s.$ref !== 'string' || depth > 20) return s
    if (!s.$ref.startsWith('#')) return s
    let to: any = schema
    for (const p of s.$ref.slice(1).split('/').slice(1)) to = to && to[decodeURIComponent(p).replace(/~1/g, '/').replace(/~0/g, '~')]
    return to === undefined ? s : follow(to, depth + 1)
  }
  const step = (s: any, name: string): { schema: any; required: boolean } | null => {
    s = follow(s)
    if (!s || typeof s !== 'object') return null
    const required = Array.isArray(s.required) && s.required.includes(name)
    if (s.properties && Object.prototype.hasOwnProperty.call(s.properties, name)) return { schema: s.properties[name], required }
    for (const p in s.patternProperties || {}) {
      try {
        if (new RegExp(p, 'u').test(name)) return { schema: s.patternProperties[p], required }
      } catch {
        // a pattern of another dialect says nothing here
      }
    }
    if (/^\d+$/.test(name)) {
      const items = Array.isArray(s.prefixItems) && s.prefixItems[Number(name)] !== undefined ? s.prefixItems[Number(name)] : Array.isArray(s.items) ? s.items[Number(name)] : s.items
      if (items !== undefined) return { schema: items, required: false }
    }
    if (s.additionalProperties && typeof s.additionalProperties === 'object') return { schema: s.additionalProperties, required }
    for (const part of s.allOf || []) {
      const found = step(part, name)
      if (found) return found
    }
    return null
  }
  let at: { schema: any; required: boolean } | null = { schema: follow(schema), required: false }
  for (const raw of pointer.split('/').slice(1)) {
    at = step(at.schema, raw.replace(/~1/g, '/').replace(/~0/g, '~'))
    if (!at) return null
    at.schema = follow(at.schema)
  }
  return at.schema && (typeof at.schema === 'object' || at.schema === true) ? at : null
}

// Where two documents differ, down to the values.
export function changedPointers(a: unknown, b: unknown, at = '', out = new Set<string>()): Set<string> {
  if (a === b || out.size > 1000) return out
  const boxes = typeof a === 'object' && a && typeof b === 'object' && b && Array.isArray(a) === Array.isArray(b)
  if (!boxes) {
    out.add(at)
    return out
  }
  for (const k of new Set([...Object.keys(a as object), ...Object.keys(b as object)]))
    if (k in (b as object)) changedPointers((a as any)[k], (b as any)[k], at + '/' + k.replace(/~/g, '~0').replace(/\//g, '~1'), out)
  return out
}
