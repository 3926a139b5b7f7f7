// tree.ts: a JSON value as a tree that is opened on demand.
//
// Nodes are made when they are opened, and long lists in pieces, so that a document of a megabyte costs
// what is seen of it.
import { h, Child } from '../core/dom'
import { effect, signal, untracked, Read } from '../core/signal'
import { short, visible } from '../format'
import { button } from './parts'

export interface TreeOptions {
  label: string
  beside?: (pointer: string, value: unknown) => Child // what is known of a value
  chosen?: (pointer: string) => void
  changed?: Read<Set<string>> // pointers whose values are new
  depth?: number // so many levels are open at the beginning
  kept?: Map<string, boolean> // what was opened and closed, for when the value is another one
}

const PIECE = 100
const TEXT = 2000

export const escape = (name: string): string => name.replace(/~/g, '~0').replace(/\//g, '~1')

const isBox = (v: unknown): v is object => typeof v === 'object' && v !== null

function leaf(v: unknown): HTMLElement {
  if (typeof v !== 'string') return h('span', { class: v === null ? 'null' : typeof v }, String(v))
  const all = signal(v.length <= TEXT)
  return h('span', { class: 'string' }, () => visible(JSON.stringify(all() ? v : short(v, TEXT))), () =>
    all() ? null : button('Show all ' + v.length + ' characters', () => all.set(true), { class: 'small' }),
  )
}

const size = (v: object): string => (Array.isArray(v) ? '[' + v.length + ']' : '{' + Object.keys(v).length + '}')

function node(name: string, v: unknown, pointer: string, level: number, o: TreeOptions): HTMLElement {
  const box = isBox(v) && Object.keys(v).length > 0
  const known = o.kept?.get(pointer)
  const open = signal(box && (known === undefined ? level <= (o.depth ?? 2) : known))
  if (box && o.kept) effect(() => void o.kept!.set(pointer, open()))
  const item: HTMLElement = h(
    'li',
    {
      role: 'treeitem',
      'aria-level': level,
      'aria-expanded': box ? () => String(open()) : undefined,
      'aria-selected': 'false',
      tabindex: -1,
      'data-pointer': pointer,
      class: () => (o.changed?.().has(pointer) ? 'changed' : undefined),
      onclick: (e: Event) => {
        e.stopPropagation()
        if ((e.target as Element).closest('button')) return
        focus(item)
        if (box && (e.target as Element).closest('.twist, .key, .size')) open.set(!open.peek())
      },
      onfocus: (e: Event) => {
        e.stopPropagation()
        o.chosen?.(pointer)
      },
      ref: (el: any) => (el.open$ = box ? open : null),
    },
    h(
      'div',
      { class: 'line', style: { 'padding-left': (level - 1) * 14 + 'px' } },
      h('span', { class: 'twist', 'aria-hidden': 'true' }, box ? () => (open() ? '▾' : '▸') : ''),
      name !== '' ? h('span', { class: 'key' }, visible(name), ': ') : null,
      isBox(v) ? h('span', { class: 'size' }, size(v)) : leaf(v),
      o.beside ? h('span', { class: 'beside' }, o.beside(pointer, v)) : null,
    ),
    box ? () => (open() ? untracked(() => children(v as object, pointer, level + 1, o)) : null) : null,
  )
  return item
}

function children(v: object, pointer: string, level: number, o: TreeOptions): HTMLElement {
  const names = Array.isArray(v) ? null : Object.keys(v)
  const total = names ? names.length : (v as unknown[]).length
  const shown = signal(Math.min(PIECE, total))
  const list = h('ul', { role: 'group' })
  let made = 0
  const grow = (): void => {
    for (; made < shown.peek(); made++) {
      const name = names ? names[made] : String(made)
      list.append(node(name, (v as any)[name], pointer + '/' + escape(name), level, o))
    }
  }
  grow()
  return h('div', { role: 'presentation' }, list, () =>
    shown() < total
      ? button('Show ' + Math.min(PIECE, total - shown()) + ' more of ' + total, () => (shown.set(Math.min(total, shown.peek() + PIECE)), grow()), { class: 'small' })
      : null,
  )
}

function focus(item: HTMLElement): void {
  const tree = item.closest('[role=tree]')!
  tree.querySelectorAll('[tabindex="0"]').forEach((e) => e.setAttribute('tabindex', '-1'))
  tree.querySelectorAll('[aria-selected=true]').forEach((e) => e.setAttribute('aria-selected', 'false'))
  item.setAttribute('tabindex', '0')
  item.setAttribute('aria-selected', 'true')
  item.focus({ preventScroll: false })
}

export function tree(value: unknown, o: TreeOptions): HTMLElement {
  const root: HTMLElement = h(
    'ul',
    {
      class: 'tree',
      role: 'tree',
      'aria-label': o.label,
      onkeydown: (e: KeyboardEvent) => {
        const at = (e.target as HTMLElement).closest('[role=treeitem]') as any
        if (!at || e.altKey || e.ctrlKey || e.metaKey || (e.target as HTMLElement).tagName === 'BUTTON') return
        const all = [...root.querySelectorAll('[role=treeitem]')] as HTMLElement[]
        const i = all.indexOf(at)
        let to: HTMLElement | null | undefined
        if (e.key === 'ArrowDown' || e.key === 'j') to = all[i + 1]
        else if (e.key === 'ArrowUp' || e.key === 'k') to = all[i - 1]
        else if (e.key === 'Home') to = all[0]
        else if (e.key === 'End') to = all[all.length - 1]
        else if (e.key === 'ArrowRight' && at.open$ && !at.open$.peek()) at.open$.set(true)
        else if (e.key === 'ArrowRight') to = at.querySelector('[role=treeitem]')
        else if (e.key === 'ArrowLeft' && at.open$ && at.open$.peek()) at.open$.set(false)
        else if (e.key === 'ArrowLeft') to = at.parentElement!.closest('[role=treeitem]') as HTMLElement
        else if ((e.key === 'Enter' || e.key === ' ') && at.open$) at.open$.set(!at.open$.peek())
        else return
        e.preventDefault()
        e.stopPropagation()
        if (to) focus(to)
      },
    },
    node('', value, '', 1, o),
  )
  root.querySelector('[role=treeitem]')!.setAttribute('tabindex', '0')
  return root
}
