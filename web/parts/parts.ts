// parts.ts: what all views are made of: states, times, texts, buttons, and what is said when there is
// nothing or something has failed.
import { h, Child, Props } from '../core/dom'
import { signal, Read } from '../core/signal'
import { Refused } from '../api'
import { ago, short, visible, when } from '../format'
import { now } from '../store'
import { mayAct } from '../sign'

// A state is always a shape, a word and a colour.
export type Look = 'needs' | 'running' | 'waiting' | 'done' | 'failed' | 'idle' | 'lost'
const SHAPES: { [look in Look]: string } = {
  needs: '▲', running: '●', waiting: '◐', done: '✓', failed: '✕', idle: '○', lost: '?',
}

export function chip(look: Read<Look>, word: Read<string>): HTMLElement {
  return h('span', { class: () => 'chip ' + look() }, shape(look), ' ', word)
}

export function shape(look: Read<Look>): HTMLElement {
  return h('span', { class: () => 'shape ' + look(), 'aria-hidden': 'true' }, () => SHAPES[look()])
}

// How long ago, and when exactly to who points at it.
export function time(at: Read<string | null | undefined>): HTMLElement {
  return h(
    'time',
    {
      datetime: () => at() || undefined,
      title: () => (at() ? when(at()!) : undefined),
    },
    () => (at() ? ago(now() - Date.parse(at()!)) : '–'),
  )
}

export function exactTime(at: string | null | undefined): HTMLElement {
  return h('span', { class: 'exact' }, at ? [h('time', { datetime: at }, when(at)), ' (', time(() => at), ' ago)'] : '–')
}

export function button(label: Child, act: (e: Event) => void, props: Props = {}): HTMLButtonElement {
  return h('button', { type: 'button', onclick: act, ...props }, label)
}

export function link(href: string | Read<string>, ...text: Child[]): HTMLElement {
  return h('a', { href }, ...text)
}

// Copies a text, and says that it has.
export function copy(text: () => string, label = 'Copy', props: Props = {}): HTMLButtonElement {
  const said = signal('')
  return button(
    () => said() || label,
    async () => {
      try {
        await navigator.clipboard.writeText(text())
        said.set('Copied')
      } catch {
        said.set('Not allowed here')
      }
      setTimeout(() => said.set(''), 1500)
    },
    { class: 'small', 'aria-live': 'polite', ...props },
  )
}

export function command(text: string): HTMLElement {
  return h('span', { class: 'command' }, h('code', null, text), copy(() => text))
}

export function empty(sentence: Child, first?: string, more?: Child): HTMLElement {
  return h('div', { class: 'empty' }, h('p', null, sentence), first ? command(first) : null, more ? h('p', null, more) : null)
}

// What went wrong, where it did; what the server says of it is folded below.
export function problem(error: Refused | null, what = ''): Child {
  if (!error) return null
  const more = Object.keys(error.more).length ? JSON.stringify(error.more, null, 2) : ''
  return h(
    'div',
    { class: 'problem', role: 'alert' },
    h('p', null, h('strong', null, '✕ ' + (what || error.title)), ' ', visible(error.message)),
    more ? h('details', null, h('summary', null, 'What the server said'), h('pre', null, visible(more))) : null,
  )
}

// A text of somebody else's: shown as text, cut, in a frame that says whose it is.
const LINES = 40
export function text(value: string, whose: string): HTMLElement {
  const lines = value.split('\n')
  const all = signal(lines.length <= LINES && value.length <= 8000)
  return h(
    'figure',
    { class: 'text' },
    whose ? h('figcaption', null, whose) : null,
    h('pre', { tabindex: 0, 'aria-label': whose || 'text' }, () => visible(all() ? value : short(lines.slice(0, LINES).join('\n'), 8000))),
    () => (all() ? null : button('Show all ' + lines.length + ' lines', () => all.set(true), { class: 'small' })),
  )
}

export function facts(...pairs: ([string, Child] | null | false)[]): HTMLElement {
  return h(
    'dl',
    { class: 'facts' },
    pairs.map((p) => p && h('div', null, h('dt', null, p[0]), h('dd', null, p[1]))),
  )
}

export function section(title: string, ...children: Child[]): HTMLElement {
  return h('section', { class: 'part' }, h('h2', null, title), ...children)
}

// A button of something that changes something: not there for who may only look. While it is on its way it
// cannot be pressed again; what the server refuses is said beside it.
export function act(label: string, run: () => Promise<unknown>, props: Props & { sure?: string; done?: string } = {}): Child {
  const { sure, done, ...rest } = props as any
  if (!mayAct()) return null
  const busy = signal(false)
  const asked = signal(false)
  const failed = signal<Refused | null>(null)
  const said = signal('')
  let timer = 0
  async function press(): Promise<void> {
    if (sure && !asked.peek()) {
      asked.set(true)
      timer = window.setTimeout(() => asked.set(false), 5000)
      return
    }
    clearTimeout(timer)
    asked.set(false)
    busy.set(true)
    failed.set(null)
    try {
      await run()
      if (done) said.set(done)
      setTimeout(() => said.set(''), 3000)
    } catch (e) {
      if (!(e instanceof Refused)) throw e
      failed.set(e)
    } finally {
      busy.set(false)
    }
  }
  return h(
    'span',
    { class: 'act' },
    button(() => (asked() ? sure : said() || label), () => void press(), {
      ...rest,
      'aria-disabled': () => (busy() ? 'true' : undefined),
      class: () => (rest.class || '') + (asked() ? ' sure' : ''),
    }),
    () => (failed() ? h('span', { class: 'beside', role: 'alert' }, '✕ ' + visible(failed()!.message)) : null),
  )
}

export function select(label: string, value: Read<string>, options: Read<[string, string][]>, set: (v: string) => void): HTMLElement {
  return h(
    'label',
    { class: 'field' },
    h('span', { class: 'hidden' }, label),
    h(
      'select',
      { value, onchange: (e: Event) => set((e.target as HTMLSelectElement).value) },
      () => options().map(([v, name]) => h('option', { value: v, selected: v === value() }, name)),
    ),
  )
}

export function check(label: string, value: Read<boolean>, set: (v: boolean) => void): HTMLElement {
  return h(
    'label',
    { class: 'field check' },
    h('input', { type: 'checkbox', checked: value, onchange: (e: Event) => set((e.target as HTMLInputElement).checked) }),
    h('span', null, label),
  )
}

// Things of which one is chosen.
export function tabs(label: string, names: [string, string][], chosen: Read<string>, set: (v: string) => void): HTMLElement {
  return h(
    'div',
    { class: 'tabs', role: 'group', 'aria-label': label },
    names.map(([v, name]) =>
      button(name, () => set(v), { 'aria-pressed': () => (chosen() === v ? 'true' : 'false') }),
    ),
  )
}
