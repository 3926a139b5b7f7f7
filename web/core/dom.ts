// dom.ts: elements out of functions, that change when what they show does.
//
// h('p', { class: 'x' }, 'text', () => live()) makes an element; what is a function is an effect. Text
// is always text: nothing here takes markup.
import { effect, memo, onEnd, root, signal, untracked, Read, Signal } from './signal'

export type Child = Node | string | number | null | undefined | false | Child[] | (() => Child)
type Value = string | number | boolean | null | undefined
export type Props = {
  [name: string]: Value | (() => Value) | ((event: any) => void) | { [name: string]: Value | (() => Value) } | ((el: any) => void)
}

const SVG = 'http://www.w3.org/2000/svg'
const PROPERTIES = new Set(['value', 'checked', 'indeterminate', 'disabled', 'open', 'selected'])

function put(el: Element, name: string, value: Value): void {
  if (PROPERTIES.has(name) && name in el && !(name === 'open' && el.tagName === 'DIALOG')) {
    ;(el as any)[name] = value === null || value === undefined ? (name === 'value' ? '' : false) : value
  } else if (value === null || value === undefined || value === false) {
    el.removeAttribute(name)
  } else {
    el.setAttribute(name, value === true ? '' : String(value))
  }
}

function bind(el: Element, name: string, value: Props[string]): void {
  if (name === 'ref') {
    ;(value as (el: Element) => void)(el)
  } else if (name.startsWith('on')) {
    el.addEventListener(name.slice(2), value as EventListener)
  } else if (name === 'style' && value && typeof value === 'object') {
    // Styles are set one by one: a style attribute is what the page's policy refuses.
    for (const [key, v] of Object.entries(value)) {
      const set = (x: Value) => (el as HTMLElement).style.setProperty(key, x === null || x === undefined ? '' : String(x))
      if (typeof v === 'function') effect(() => set(v()))
      else set(v)
    }
  } else if (typeof value === 'function') {
    effect(() => put(el, name, (value as () => Value)()))
  } else {
    put(el, name, value as Value)
  }
}

function make(el: Element, props: Props | null, children: Child[]): Element {
  // A select has its value only when it has its options.
  const late = props && el.tagName === 'SELECT' && 'value' in props
  for (const name in props) if (!(late && name === 'value')) bind(el, name, props[name])
  append(el, children)
  if (late) bind(el, 'value', props!.value)
  return el
}

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props?: Props | null, ...children: Child[]): HTMLElementTagNameMap[K] {
  return make(document.createElement(tag), props || null, children) as HTMLElementTagNameMap[K]
}

export function svg(tag: string, props?: Props | null, ...children: Child[]): SVGElement {
  return make(document.createElementNS(SVG, tag), props || null, children) as SVGElement
}

// The nodes that a child is now; a function is asked once.
function nodes(child: Child, out: Node[]): void {
  if (child === null || child === undefined || child === false) return
  if (Array.isArray(child)) for (const c of child) nodes(c, out)
  else if (typeof child === 'function') live(child, out)
  else out.push(child instanceof Node ? child : document.createTextNode(String(child)))
}

// A place whose nodes change: they stand before a mark of their own.
function live(fn: () => Child, out: Node[]): void {
  const end = document.createTextNode('')
  let shown: Node[] = []
  let first = true
  effect(() => {
    const value = fn()
    if (shown.length === 1 && shown[0] instanceof Text && (typeof value === 'string' || typeof value === 'number')) {
      const text = String(value)
      if (shown[0].data !== text) shown[0].data = text
      return
    }
    const next: Node[] = []
    nodes(value, next)
    if (first) {
      for (const n of next) out.push(n)
      first = false
    } else {
      replace(end, shown, next)
    }
    shown = next
  })
  out.push(end)
  // Those that stand in the list of somebody else are found there by what they are now.
  ;(end as any).before$ = () => shown
}

function replace(end: Node, was: Node[], next: Node[]): void {
  const parent = end.parentNode
  const keep = new Set(next)
  for (const n of was) if (!keep.has(n)) remove(n)
  if (parent) for (const n of next) parent.insertBefore(n, end)
}

// A mark takes along what stands before it.
function remove(n: Node): void {
  const before = (n as any).before$ as (() => Node[]) | undefined
  if (before) for (const b of before()) remove(b)
  if (n.parentNode) n.parentNode.removeChild(n)
}

export function append(parent: Node, child: Child): void {
  const list: Node[] = []
  nodes(child, list)
  for (const n of list) parent.appendChild(n)
}

// One of two, made anew only when the condition turns.
export function when(condition: () => unknown, then: () => Child, otherwise?: () => Child): () => Child {
  const is = memo(() => !!condition())
  return () => (is() ? untracked(then) : otherwise ? untracked(otherwise) : null)
}

interface Item<T> {
  node: Element
  value: Signal<T>
  end: () => void
  at: number
}

// An element for each of a list, by its key: one that stays is moved and told its new value.
export function each<T>(parent: Element, list: Read<T[]>, key: (t: T) => string, render: (t: Read<T>, key: string) => Element): void {
  let items = new Map<string, Item<T>>()
  onEnd(() => items.forEach((i) => i.end()))
  effect(() => {
    const values = list()
    const next = new Map<string, Item<T>>()
    values.forEach((value, at) => {
      const k = key(value)
      if (next.has(k)) return
      const known = items.get(k)
      if (known) {
        known.at = at
        items.delete(k)
        next.set(k, known)
        known.value.set(value)
      } else {
        next.set(k, born(value, k, at, render))
      }
    })
    items.forEach((i) => {
      i.end()
      i.node.remove()
    })
    items = next
    // Only those that stand elsewhere are moved, so that focus and selection stay where they are.
    let before: ChildNode | null = parent.firstChild
    items.forEach((i) => {
      if (i.node === before) before = before.nextSibling
      else parent.insertBefore(i.node, before)
    })
  })
}

function born<T>(value: T, key: string, at: number, render: (t: Read<T>, key: string) => Element): Item<T> {
  return untracked(() =>
    root((end) => {
      const s = signal(value)
      return { node: render(s, key), value: s, end, at }
    }),
  )
}
