// search.ts: everything by its id, its name or its words.
import { h } from './core/dom'
import { memo, root, signal } from './core/signal'
import { data } from './data'
import { dialog } from './keys'
import { address } from './route'
import { visible } from './format'
import type { View } from './views'

interface Found {
  kind: string
  name: string
  more: string
  href: string
}

const MOST = 30

function* everything(views: View[]): Generator<Found> {
  const d = data()
  for (const v of views) yield { kind: 'view', name: v.title, more: '', href: address(v.name) }
  for (const s of d.sessions.all())
    yield { kind: 'session', name: s.session_name, more: [s.session_id, s.agent_name, s.project, s.last_event].filter(Boolean).join(' · '), href: address('sessions', s.session_name) }
  for (const s of d.states.all())
    yield { kind: 'state', name: s.name || s.state_id, more: [s.state_id, s.schema_name, s.root_session_name].filter(Boolean).join(' · '), href: address('state', s.state_id) }
  for (const e of d.executions.all())
    yield { kind: 'execution', name: e.workflow + (e.business_key ? ' ' + e.business_key : ''), more: e.execution_id + ' · ' + e.status.toLowerCase(), href: address('executions', e.execution_id) }
}

export function search(views: View[]): void {
  root((end) =>
    dialog('Search', (close) => {
      const words = signal('')
      const at = signal(0)
      const found = memo(() => {
        const wanted = words().toLowerCase().split(/\s+/).filter(Boolean)
        const out: Found[] = []
        for (const f of everything(views)) {
          const text = (f.kind + ' ' + f.name + ' ' + f.more).toLowerCase()
          if (wanted.every((w) => text.includes(w))) out.push(f)
          if (out.length >= MOST) break
        }
        return out
      })
      const open = (f: Found | undefined): void => {
        if (!f) return
        close()
        end()
        location.hash = f.href
      }
      const input = h('input', {
        type: 'search', role: 'combobox', 'aria-expanded': 'true', 'aria-controls': 'found', 'aria-label': 'Search sessions, states, executions and views',
        'aria-activedescendant': () => (found().length ? 'found-' + at() : undefined),
        placeholder: 'id, name or words',
        oninput: (e: Event) => (words.set((e.target as HTMLInputElement).value), at.set(0)),
        onkeydown: (e: KeyboardEvent) => {
          const step = e.key === 'ArrowDown' ? 1 : e.key === 'ArrowUp' ? -1 : 0
          if (step) {
            at.set(Math.max(0, Math.min(found().length - 1, at.peek() + step)))
            document.getElementById('found-' + at.peek())?.scrollIntoView({ block: 'nearest' })
            e.preventDefault()
          } else if (e.key === 'Enter') {
            open(found()[at.peek()])
            e.preventDefault()
          }
        },
        style: { width: '100%' },
        autofocus: true,
      })
      return [
        input,
        h('ul', { class: 'found', id: 'found', role: 'listbox', 'aria-label': 'Found' }, () =>
          found().map((f, i) =>
            h(
              'li',
              { id: 'found-' + i, role: 'option', 'aria-selected': () => (at() === i ? 'true' : 'false'), onclick: () => open(f) },
              h('span', { class: 'kind' }, f.kind),
              h('span', null, h('strong', null, visible(f.name)), f.more ? h('span', { class: 'muted' }, '  ' + visible(f.more)) : null),
            ),
          ),
        ),
        h('p', { class: 'muted', role: 'status' }, () => (found().length ? '' : 'Nothing has these words among what is loaded: the live ones, and all that you have listed.')),
      ]
    }),
  )
}
