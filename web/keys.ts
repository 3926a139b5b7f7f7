// keys.ts: keys that work everywhere, and those of the view that is shown.
import { h } from './core/dom'
import { onEnd } from './core/signal'
import { button } from './parts/parts'
import { go } from './route'

export interface Key {
  keys: string // as it is shown: "j", "g i"
  does: string
  run?: (e: KeyboardEvent) => void // none: somebody else listens, and it is only listed
}

const everywhere: Key[] = []
let local: Key[] = []
let first = '' // of two: "g" was pressed
let timer = 0

const writes = (e: Event): boolean => {
  const t = e.target as HTMLElement
  return t.isContentEditable || t.tagName === 'TEXTAREA' || t.tagName === 'SELECT' || (t.tagName === 'INPUT' && !/checkbox|range/.test((t as HTMLInputElement).type))
}

export function addKeys(keys: Key[]): void {
  everywhere.push(...keys)
}

// Keys of a view, for as long as it is shown.
export function viewKeys(keys: Key[]): void {
  local = [...local, ...keys]
  onEnd(() => (local = local.filter((k) => !keys.includes(k))))
}

addEventListener('keydown', (e) => {
  if (e.altKey || e.ctrlKey || e.metaKey || writes(e) || document.querySelector('dialog[open]')) return
  const pressed = (first ? first + ' ' : '') + e.key
  first = ''
  clearTimeout(timer)
  for (const k of [...local, ...everywhere]) {
    if (!k.run) continue
    if (k.keys === pressed) {
      e.preventDefault()
      k.run(e)
      return
    }
    if (k.keys.startsWith(pressed + ' ')) {
      first = pressed
      timer = window.setTimeout(() => (first = ''), 1200)
      return
    }
  }
})

// A dialog that gives the focus back to where it was.
export function dialog(title: string, content: (close: () => void) => Node[]): void {
  if (document.querySelector('dialog[open]')) return
  const before = document.activeElement as HTMLElement | null
  const el: HTMLDialogElement = h('dialog', { 'aria-label': title, onclose: (): void => (el.remove(), before?.focus()) })
  el.append(...content(() => el.close()))
  el.addEventListener('click', (e) => e.target === el && el.close())
  document.body.append(el)
  el.showModal()
}

export function showKeys(leave: () => void): void {
  const all = [...local, ...everywhere]
  dialog('Keys', (close) => [
    h('h1', null, 'Keys'),
    h('dl', null, all.map((k) => [h('dt', null, k.keys.split(' ').map((x) => [h('kbd', null, x), ' '])), h('dd', null, k.does)])),
    h('div', { class: 'acts' }, button('Close', close), button('Sign out', () => (close(), leave()))),
  ])
}

export function goKeys(views: { name: string; title: string; key: string }[]): Key[] {
  return views.map((v) => ({ keys: 'g ' + v.key, does: 'go to ' + v.title, run: () => go(v.name) }))
}
