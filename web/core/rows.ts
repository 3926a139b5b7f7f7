// rows.ts: a list that is a window over any number of rows of one height.
//
// Only the rows that can be seen are elements. One row at a time can be reached by the tab key; the
// arrows, j and k move it, and it is found again by its key when the list changes.
import { each, h, Child } from './dom'
import { effect, memo, onEnd, signal, untracked, Read } from './signal'

const SPARE = 8 // rows above and below what is seen

export interface Rows<T> {
  element: HTMLElement
  move(by: number): void
  chosen(): T | undefined
  focus(): void
}

export interface RowsOptions<T> {
  list: Read<T[]>
  key: (t: T) => string
  label: string
  row: (t: Read<T>) => Child
  selected: Read<string> // the key of the one that is open
  open: (t: T) => void
  role?: 'listbox' | 'tree'
  attributes?: (t: T) => { [name: string]: string | number | boolean | undefined }
  class?: string
  keydown?: (e: KeyboardEvent, t: T | undefined) => boolean // true: it was for it
}

export function rows<T>(o: RowsOptions<T>): Rows<T> {
  const top = signal(0)
  const height = signal(600)
  const unit = signal(28)
  const at = signal('') // the key of the row that has the focus
  const place = memo(() => {
    const found = new Map<string, number>()
    o.list().forEach((t, i) => found.set(o.key(t), i))
    return found
  })
  const active = memo(() => {
    const known = place()
    const k = known.has(at()) ? at() : o.selected()
    return known.has(k) ? k : ''
  })
  const range = memo(() => {
    const first = Math.max(0, Math.floor(top() / unit()) - SPARE)
    return first + ',' + Math.min(o.list().length, Math.ceil((top() + height()) / unit()) + SPARE)
  })
  const seen = memo(() => {
    const [first, last] = range().split(',').map(Number)
    return o.list().slice(first, last)
  })
  const role = o.role || 'listbox'
  const id = 'rows' + ++count

  const inner = h('div', { class: 'rows-inner', role: 'presentation', style: { height: () => o.list().length * unit() + 'px' } })
  const element: HTMLElement = h(
    'div',
    {
      class: 'rows ' + (o.class || ''),
      role,
      tabindex: 0,
      'aria-label': o.label,
      'aria-activedescendant': () => (active() ? id + '-' + safe(active()) : undefined),
      onscroll: (): void => top.set(element.scrollTop),
      onkeydown: (e: KeyboardEvent) => keydown(e),
    },
    inner,
  )
  each(inner, seen, o.key, (t, key) => {
    const attributes = (name: string) => () => (o.attributes ? o.attributes(t())[name] : undefined)
    return h(
      'div',
      {
        class: 'row',
        id: id + '-' + safe(key),
        role: role === 'tree' ? 'treeitem' : 'option',
        'aria-selected': () => (o.selected() === key ? 'true' : 'false'),
        'data-active': () => (active() === key ? 'yes' : undefined),
        'aria-level': attributes('aria-level'),
        'aria-expanded': attributes('aria-expanded'),
        'aria-setsize': () => o.list().length,
        'aria-posinset': () => (place().get(key) || 0) + 1,
        style: { top: () => (place().get(key) || 0) * unit() + 'px' },
        onclick: () => {
          at.set(key)
          o.open(untracked(t))
        },
      },
      o.row(t),
    )
  })

  function show(i: number): void {
    const y = i * unit.peek()
    if (y < element.scrollTop) element.scrollTop = y
    else if (y + unit.peek() > element.scrollTop + element.clientHeight) element.scrollTop = y + unit.peek() - element.clientHeight
    top.set(element.scrollTop)
  }

  function move(by: number): void {
    const list = untracked(o.list)
    if (!list.length) return
    const from = untracked(place).get(untracked(active))
    const to = from === undefined ? (by > 0 ? 0 : list.length - 1) : Math.min(list.length - 1, Math.max(0, from + by))
    at.set(o.key(list[to]))
    show(to)
  }

  function chosen(): T | undefined {
    const i = untracked(place).get(untracked(active))
    return i === undefined ? undefined : untracked(o.list)[i]
  }

  function keydown(e: KeyboardEvent): void {
    if (e.altKey || e.ctrlKey || e.metaKey) return
    const page = Math.max(1, Math.floor(element.clientHeight / unit.peek()) - 1)
    const steps: { [key: string]: number } = {
      ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -1e9, End: 1e9,
    }
    if (o.keydown && o.keydown(e, chosen())) {
      e.preventDefault()
    } else if (e.key in steps) {
      move(steps[e.key])
      e.preventDefault()
      e.stopPropagation()
    } else if (e.key === 'Enter' || e.key === ' ') {
      const t = chosen()
      if (t) o.open(t)
      e.preventDefault()
      e.stopPropagation()
    }
  }

  // A row is as high as the style says: more under a finger.
  function measure(): void {
    const size = parseFloat(getComputedStyle(element).getPropertyValue('--row'))
    if (size) unit.set(size)
    if (element.clientHeight) height.set(element.clientHeight)
  }
  const watcher = new ResizeObserver(measure)
  watcher.observe(element)
  onEnd(() => watcher.disconnect())
  // What is open at the beginning is seen.
  let shown = false
  effect(() => {
    const i = place().get(o.selected())
    if (i !== undefined && !shown) {
      shown = true
      requestAnimationFrame(() => show(i))
    }
  })
  return { element, move, chosen, focus: () => element.focus() }
}

let count = 0

function safe(key: string): string {
  return key.replace(/[^\w-]/g, (c) => '_' + c.charCodeAt(0).toString(16))
}
