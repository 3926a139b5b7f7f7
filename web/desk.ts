// desk.ts: what waits for a person, and decisions on their way.
//
// A decision is sent after five seconds, in which it can be taken back; the server hears nothing before.
// Whoever leaves the page has decided: then it is sent at once. What is decided stays to be seen for a minute, with who
// has decided; so do entries that others have decided meanwhile.
import { post, part, Refused } from './api'
import { h } from './core/dom'
import { batch, effect, signal } from './core/signal'
import { collection, Collection, now } from './store'
import { hear } from './live'
import { button } from './parts/parts'
import { who } from './sign'

export interface Entry {
  id: string
  kind: string
  title: string
  status: string
  waits: boolean
  who: { session_id: string | null; session_name: string | null; execution_id: string | null; workflow: string | null; step: string | null }
  why: string
  since: string
  until: string | null
  if_nobody: string
  content: any
  decisions: { decision: string; command: string }[]
}

export interface Pending {
  entry: Entry
  decision: string
  more: Record<string, unknown>
  at: number // when it is sent
  timer: number
}

export interface Decided {
  entry: Entry
  words: string
  until: number
}

const UNDO_MS = 5000
const STAYS_MS = 60000

export const pending = signal<Map<string, Pending>>(new Map())
export const decided = signal<Map<string, Decided>>(new Map())
export const refused = signal<Map<string, Refused>>(new Map())

const concerns = /^(approval_|incident_)/

export function inbox(): Collection<Entry> {
  const c = collection<Entry>({
    lists: () => ['/inbox'],
    member: 'entries',
    id: (e) => e.id,
    address: (id) => '/inbox/' + part(id),
    keep: (e) => e.waits,
    concerns: (e) => {
      if (/^(session_settled|execution_ended|execution_deleted)$/.test(e.type)) return ''
      if (!concerns.test(e.type)) return null
      const id = (e.data && e.data.incident_id) || (/^(apr|prm|inc)_/.test(e.subject) ? e.subject : '')
      return id
    },
  })
  hear((events) => {
    for (const e of events) {
      if (!/^(approval_resolved|incident_resolved)$/.test(e.type)) continue
      const id = (e.data && e.data.incident_id) || e.subject
      const entry = c.one(id)
      if (entry) keep(entry, (e.data && e.data.status ? e.data.status : 'resolved') + ' by ' + ((e.data && e.data.decided_by) || e.actor))
      const mine = pending.peek().get(id)
      if (mine) take(id)
    }
  })
  return c
}

function set<T>(s: { peek(): Map<string, T>; set(m: Map<string, T>): void }, id: string, value: T | null): void {
  const next = new Map(s.peek())
  if (value === null) next.delete(id)
  else next.set(id, value)
  s.set(next)
}

function keep(entry: Entry, words: string): void {
  set(decided, entry.id, { entry, words, until: Date.now() + STAYS_MS })
}

export function decide(entry: Entry, decision: string, more: Record<string, unknown> = {}): void {
  take(entry.id)
  batch(() => {
    set(refused, entry.id, null)
    set(pending, entry.id, { entry, decision, more, at: Date.now() + UNDO_MS, timer: window.setTimeout(() => void send(entry.id), UNDO_MS) })
  })
}

// Takes a decision back that was not sent yet.
export function take(id: string): void {
  const p = pending.peek().get(id)
  if (!p) return
  clearTimeout(p.timer)
  set(pending, id, null)
}

const body = (p: Pending): Record<string, unknown> => {
  const digest = p.entry.kind === 'approval' ? p.entry.content && p.entry.content.digest : undefined
  return { decision: p.decision, channel: 'page', ...(digest ? { digest } : {}), ...p.more }
}

async function send(id: string): Promise<void> {
  const p = pending.peek().get(id)
  if (!p) return
  clearTimeout(p.timer)
  try {
    const answer = await post<Entry>('/inbox/' + part(id), body(p))
    keep(p.entry, answer.status + ' by ' + (who.peek()?.name || 'you'))
  } catch (e) {
    if (!(e instanceof Refused)) throw e
    set(refused, id, e)
  } finally {
    set(pending, id, null)
  }
}

addEventListener('pagehide', () => {
  const w = who.peek()
  for (const p of pending.peek().values()) {
    clearTimeout(p.timer)
    if (w)
      void fetch('/inbox/' + part(p.entry.id), {
        method: 'POST', keepalive: true, credentials: 'omit',
        headers: { Authorization: 'Bearer ' + w.token, 'Content-Type': 'application/json' },
        body: JSON.stringify(body(p)),
      })
  }
  pending.set(new Map())
})

// What was decided is forgotten after its minute.
effect(() => {
  const t = now()
  const all = decided()
  const stay = [...all].filter(([, d]) => d.until > t)
  if (stay.length !== all.size) decided.set(new Map(stay))
})

export function undoBar(): HTMLElement {
  return h('div', { 'aria-live': 'polite' }, () => {
    const p = [...pending().values()].pop()
    return p
      ? h(
          'div',
          { class: 'undo' },
          h('span', null, p.decision + ': ' + p.entry.title + ', in ', () => Math.max(0, Math.ceil((p.at - now()) / 1000)) + 's'),
          button([h('kbd', null, 'z'), ' Take it back'], () => take(p.entry.id), { class: 'small' }),
          button('Now', () => void send(p.entry.id), { class: 'small' }),
        )
      : null
  })
}
