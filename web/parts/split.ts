// split.ts: a list and, beside it, the one of it that is open. Where there is little room the open one is a
// page of its own.
import { h, Child } from '../core/dom'
import { Read, untracked } from '../core/signal'
import { go, view } from '../route'
import { button } from './parts'

export function split(o: { title: string; tools?: Child; list: Child; open: Read<string>; detail: (id: string) => Child; none: string; view: string }): HTMLElement {
  return h(
    'div',
    { class: 'split', 'data-open': () => (o.open() ? 'yes' : 'no') },
    h(
      'section',
      { class: 'list', 'aria-label': o.title },
      h('div', { class: 'list-head' }, h('h1', null, o.title), h('div', { class: 'tools' }, o.tools)),
      o.list,
    ),
    h(
      'section',
      { class: 'detail', 'aria-label': 'Chosen', tabindex: -1 },
      () => {
        const id = o.open()
        if (!id) return h('p', { class: 'none' }, o.none)
        return untracked(() => [
          button('← ' + o.title, () => go(view() || o.view), { class: 'back small' }),
          o.detail(id),
        ])
      },
    ),
  )
}
