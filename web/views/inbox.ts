// inbox.ts: does anything need me? All that waits for a person, with what there is to judge.
import { h, when, Child } from '../core/dom'
import { memo, signal, untracked } from '../core/signal'
import { rows } from '../core/rows'
import { get, part, Refused } from '../api'
import { data } from '../data'
import { decide, decided, Entry, pending, refused, take } from '../desk'
import { ago, command, json, visible, when as whenText } from '../format'
import { Key, viewKeys } from '../keys'
import { markdown } from '../parts/markdown'
import { button, chip, copy, empty, exactTime, facts, link, Look, problem, section, select, shape, text, time } from '../parts/parts'
import { split } from '../parts/split'
import { tree } from '../parts/tree'
import { address, field, go, id, setFields } from '../route'
import { mayAct } from '../sign'
import { now } from '../store'

interface Line {
  entry: Entry
  words: string // how it was decided; empty: it waits
}

const kindWords: { [kind: string]: string } = { approval: 'to approve', permission: 'asks', incident: 'stands still' }
const look = (l: Line): Look => (l.words ? 'done' : l.entry.kind === 'incident' ? 'failed' : 'needs')

const from = (e: Entry): string => e.who.session_name || [e.who.workflow, e.who.step].filter(Boolean).join(' · ') || ''

export function inboxView(): HTMLElement {
  const d = data()
  const kind = field('kind')
  const list = memo<Line[]>(() => {
    const past = decided()
    const waits = d.inbox.all().filter((e) => !past.has(e.id))
    const all: Line[] = [...waits.map((entry) => ({ entry, words: '' })), ...[...past.values()].map((x) => ({ entry: x.entry, words: x.words }))]
    // What is decided by time comes first, then what waits for longest.
    const rank = (l: Line): string => (l.words ? '2' : l.entry.until ? '0' + l.entry.until : '1') + l.entry.since
    return all.filter((l) => !kind() || l.entry.kind === kind()).sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
  })
  const kinds = memo<[string, string][]>(() => [['', 'all kinds'], ...[...new Set([...d.inbox.all().map((e) => e.kind), 'approval', 'permission', 'incident'])].map((k) => [k, k + 's'] as [string, string])])
  const table = rows<Line>({
    list,
    key: (l) => l.entry.id,
    label: 'What waits for a person',
    selected: id,
    open: (l) => go('inbox', l.entry.id, { kind: kind() }),
    row: (l) => [
      shape(() => look(l())),
      h('span', { class: 'name' }, () => visible(l().entry.title)),
      () => (pending().has(l().entry.id) ? h('span', { class: 'chip waiting' }, '◐ ' + pending().get(l().entry.id)!.decision + ' …') : null),
      h('span', { class: 'cell grow' }, () => (l().words ? visible(l().words) : visible(from(l().entry)))),
      h('span', { class: 'cell optional' }, () => (l().words ? '' : kindWords[l().entry.kind] || l().entry.kind)),
      () => (l().entry.until && !l().words ? h('span', { class: 'chip needs' }, () => left(l().entry.until!)) : null),
      h('span', { class: 'right' }, time(() => l().entry.since)),
    ],
  })
  viewKeys([{ keys: 'z', does: 'take back what was just decided', run: () => [...pending.peek().keys()].slice(-1).forEach(take) }])
  return split({
    title: 'Inbox',
    view: 'inbox',
    tools: [select('Kind', kind, kinds, (v) => setFields({ kind: v }))],
    list: [
      () => problem(d.inbox.error(), 'The inbox could not be read.'),
      () => (d.inbox.loaded() && !list().length ? empty(kind() ? 'Nothing of this kind waits for you.' : '✓ Nothing needs you. Approvals of steps, permissions that agents ask for and incidents will be here.') : null),
      table.element,
    ],
    open: id,
    none: 'Choose an entry to see what there is to judge.',
    detail: (eid) => detail(eid),
  })
}

const left = (until: string): string => {
  const ms = Date.parse(until) - now()
  return ms > 0 ? 'in ' + ago(ms) : 'now'
}

function detail(eid: string): Child {
  const found = signal<Entry | null>(null)
  const failed = signal<Refused | null>(null)
  // One that is not in the list was decided before, or is somebody else's.
  const d = data()
  const entry = memo(() => d.inbox.one(eid) || decided().get(eid)?.entry || found())
  const ask = memo(() => d.inbox.loaded() && !d.inbox.one(eid))
  const asked = signal(false)
  return [
    () => {
      if (ask() && !asked.peek()) {
        asked.set(true)
        get<Entry>('/inbox/' + part(eid)).then((e) => found.set(e), (e) => failed.set(e))
      }
      return entry() ? null : problem(failed())
    },
    when(() => entry(), () => shown(entry as () => Entry, eid)),
  ]
}

// Words and keys of decisions; of one that is not here, its own name.
const decisionLooks: { [decision: string]: { key: string; words: { [kind: string]: string } & { any: string }; main?: boolean; reason?: boolean } } = {
  approve: { key: 'a', words: { any: 'Approve', permission: 'Allow' }, main: true },
  reject: { key: 'r', words: { any: 'Reject', permission: 'Deny' }, reason: true },
  rework: { key: 'w', words: { any: 'Rework' }, reason: true },
  retry: { key: 'a', words: { any: 'Try again' }, main: true },
}

function shown(e: () => Entry, eid: string): Child {
  const first = untracked(e)
  const reason = signal('')
  const changes = signal('')
  const variant = signal('')
  const editing = signal(false)
  const wrong = signal('')
  const options: any[] = (first.content && first.content.options) || []
  const waits = memo(() => !!data().inbox.one(eid) && !decided().has(eid))
  const act = (decision: string): void => {
    if (!waits()) return
    const more: Record<string, unknown> = {}
    if (reason.peek().trim() && first.kind !== 'incident') more.reason = reason.peek().trim()
    if (decision === 'approve' && variant.peek()) more.selected_variant = variant.peek()
    if (changes.peek().trim() && (decision === 'approve' || decision === 'retry')) {
      try {
        more[decision === 'retry' ? 'variables' : 'modifications'] = JSON.parse(changes.peek())
        wrong.set('')
      } catch (x) {
        wrong.set('expected a JSON object, like {"name": "value"}: ' + (x as Error).message)
        return
      }
    }
    decide(e(), decision, more)
  }
  const keys: Key[] = first.decisions.map((x) => ({ keys: (decisionLooks[x.decision] || {}).key || x.decision[0], does: x.decision, run: () => act(x.decision) }))
  const takes = first.kind === 'approval' ? 'Approve with changes: a JSON object that the steps after it get as “modifications”' : first.kind === 'incident' ? 'Set variables first: a JSON object' : ''
  if (mayAct())
    viewKeys([
      ...keys,
      ...(takes ? [{ keys: 'e', does: first.kind === 'incident' ? 'set variables first' : 'approve with changes', run: () => editing.set(!editing.peek()) }] : []),
      { keys: '.', does: 'copy the baton command that does the same', run: () => void navigator.clipboard.writeText((e().decisions[0] || { command: command('inbox', 'get', eid) }).command) },
    ])
  return [
    h('header', null, h('h1', null, () => visible(e().title)), () => (waits() ? chip(() => (e().kind === 'incident' ? 'failed' : 'needs'), () => 'waits for you') : chip(() => 'done', () => decided().get(eid)?.words || e().status))),
    () => problem(refused().get(eid) || null, 'It was not decided by you:'),
    () => facts(
      ['why', visible(e().why)],
      ['who', [e().who.session_name ? link(address('sessions', e().who.session_name!), visible(e().who.session_name!)) : null, e().who.execution_id ? [' ', link(address('executions', e().who.execution_id!), visible([e().who.workflow, e().who.step].filter(Boolean).join(' · ')))] : null]],
      ['since', exactTime(e().since)],
      ['until', e().until ? exactTimeTo(e().until!) : 'any time'],
      ['if nobody decides', visible(e().if_nobody)],
    ),
    when(waits, () =>
      mayAct()
        ? [
            options.length
              ? h('fieldset', null, h('legend', null, 'Which one'), options.map((o, i) => {
                  const name = typeof o === 'object' && o ? o.id || o.variant || o.name || String(i) : String(o)
                  return h('div', null, h('label', null, h('input', { type: 'radio', name: 'variant', value: String(name), onchange: () => variant.set(String(name)) }), ' ', visible(String(name))), typeof o === 'object' ? tree(o, { label: String(name), depth: 1 }) : null)
                }))
              : null,
            first.kind !== 'incident' ? h('label', null, 'Your words, which whoever did it reads (may be left out)', h('textarea', { value: reason.peek(), oninput: (x: Event) => reason.set((x.target as HTMLTextAreaElement).value), style: { 'min-height': '48px' } })) : null,
            takes ? when(editing, () => h('label', null, takes, h('textarea', { value: changes.peek(), spellcheck: 'false', class: 'mono', oninput: (x: Event) => changes.set((x.target as HTMLTextAreaElement).value), ref: (el: HTMLTextAreaElement) => setTimeout(() => el.focus()) }))) : null,
            () => (wrong() ? h('p', { class: 'beside', role: 'alert' }, '✕ ' + wrong()) : null),
            h('div', { class: 'acts' },
              first.decisions.map((x) => {
                const l = decisionLooks[x.decision]
                const words = l ? l.words[first.kind] || l.words.any : x.decision
                return button([words + ' ', h('kbd', null, l ? l.key : x.decision[0])], () => act(x.decision), { class: l && l.main ? 'main' : undefined, title: x.command })
              }),
              takes ? button([first.kind === 'incident' ? 'Variables ' : 'Changes ', h('kbd', null, 'e')], () => editing.set(!editing.peek()), { 'aria-expanded': () => String(editing()) }) : null,
              copy(() => (e().decisions[0] ? e().decisions[0].command : ''), 'Copy as command'),
            ),
          ]
        : h('p', { class: 'muted' }, 'You may look, and not decide.'),
    ),
    section('What there is to judge', content(first)),
  ]
}

function exactTimeTo(at: string): Child {
  return [h('time', { datetime: at }, whenText(at)), ' (', () => left(at), ')']
}

// ---- what there is to judge ----

const isProse = (v: unknown): v is string => typeof v === 'string' && (v.length > 120 || v.includes('\n'))

function content(e: Entry): Child {
  const c = e.content || {}
  if (e.kind === 'incident') return [problem(new Refused(0, c.kind || 'incident', c.message || e.why, {})), e.who.execution_id ? link(address('executions', e.who.execution_id, { step: e.who.step }), 'Where it stands still') : null]
  if (e.kind === 'permission') {
    const input = c.tool_input || {}
    const words = typeof input.command === 'string' ? input.command : ''
    const whose = 'what ' + (e.who.session_name || 'an agent') + ' wants to do with ' + c.tool_name
    return [words ? text(words, whose) : edit(input, whose), Object.keys(input).length > (words ? 1 : 0) ? h('details', { open: !words && !isEdit(input) }, h('summary', null, 'All that it gives to the tool'), tree(input, { label: 'Input of the tool', depth: 3 })) : null]
  }
  return values(c.content !== undefined ? c.content : c, 'what ' + (e.who.step || 'it') + ' has given')
}

const isEdit = (i: any): boolean => typeof i.old_string === 'string' && typeof i.new_string === 'string'

// A tool that changes a file: what it takes out, and what it puts in.
function edit(i: any, whose: string): Child {
  if (isEdit(i)) return diffLater(i.old_string, i.new_string, i.file_path || 'before')
  return typeof i.content === 'string' ? text(i.content, whose + (i.file_path ? ': ' + i.file_path : '')) : null
}

function diffLater(a: string, b: string, name: string): Child {
  const el = h('div', null)
  void import('../parts/diff').then((m) => el.replaceChildren(m.diff(a, b, name + ', as it is', name + ', as it would be')))
  return el
}

// Long texts of outputs are read as Markdown, as agents write it; all else is a tree.
function values(c: any, whose: string): Child {
  const outputs = c && typeof c === 'object' && c.outputs && typeof c.outputs === 'object' ? c.outputs : null
  const prose: Child[] = []
  const rest: any = {}
  for (const [k, v] of Object.entries(outputs || c || {})) {
    if (isProse(v)) prose.push(/^(diff --git|--- |@@ )/m.test(v) ? text(v, whose + ': ' + k) : markdown(v, whose + ': ' + k))
    else rest[k] = v
  }
  return [
    c && typeof c.description === 'string' ? h('p', { class: 'muted' }, visible(c.description)) : null,
    prose,
    Object.keys(rest).length ? tree(rest, { label: whose, depth: 3 }) : null,
    h('div', { class: 'acts' }, copy(() => json(c), 'Copy JSON')),
  ]
}
