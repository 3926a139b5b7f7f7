// frame.ts: what stands around every view: where one can go, whether it is live, who one is.
import { h, when } from './core/dom'
import { effect, memo, root, untracked } from './core/signal'
import { data } from './data'
import { undoBar } from './desk'
import { ago } from './format'
import { addKeys, goKeys, showKeys } from './keys'
import { connect, live } from './live'
import { button, shape, Look } from './parts/parts'
import { address, go, view } from './route'
import { search } from './search'
import { revoke, signOut, who } from './sign'
import { now } from './store'
import { theme, nextTheme } from './theme'
import { View } from './views'

// The truth about the line. What is between two tries is said by the second, but read out once.
function indicator(): HTMLElement {
  const look = (): Look => {
    const s = live()
    return s.is === 'live' ? 'done' : s.is === 'down' ? 'failed' : 'waiting'
  }
  const words = (): string => {
    const s = live()
    if (s.is === 'live') return 'live'
    if (s.is === 'catching up') return 'catching up' + (s.count ? ' (' + s.count + ')' : '')
    if (s.is === 'down') {
      const left = Math.ceil((s.again - now()) / 1000)
      return 'not live for ' + ago(now() - s.since) + ', ' + (left > 0 ? 'trying again in ' + left + 's' : 'trying again')
    }
    return 'connecting'
  }
  const down = memo(() => live().is === 'down')
  return h(
    'span',
    { class: 'live' },
    h('span', { class: () => 'chip ' + look(), title: () => (live().is === 'down' ? (live() as any).why : undefined) }, shape(() => (look() === 'done' ? 'running' : look())), ' ', words),
    h('span', { class: 'hidden', role: 'status' }, () => (down() ? 'Not live: what is shown may be old.' : live().is === 'live' ? 'Live.' : '')),
    when(down, () => button('Try now', connect, { class: 'small' })),
  )
}

function leave(): void {
  const w = who.peek()
  if (w) void revoke(w)
  signOut('You have signed out.')
}

function top(views: View[]): HTMLElement {
  return h(
    'header',
    { class: 'top' },
    h('a', { class: 'brand', href: '#/' }, 'baton'),
    h('span', { class: 'gap' }),
    button([h('kbd', null, '/'), ' Search'], () => search(views), { class: 'small' }),
    indicator(),
    button(() => [theme().sign, h('span', { class: 'wide' }, ' ' + theme().title)], nextTheme, { class: 'small plainly', title: 'Light, dark, or as the system has it', 'aria-label': () => 'Looks: ' + theme().title }),
    button('?', () => showKeys(leave), { class: 'small plainly', 'aria-label': 'Keys, and signing out' }),
    h('span', { class: 'person wide', title: () => (who() ? who()!.kind + ', until ' + (who()!.expires_at || 'revoked') : '') }, () => (who() ? who()!.name + (who()!.kind === 'viewer' ? ' (looks only)' : '') : '')),
    button('Sign out', leave, { class: 'small plainly wide' }),
  )
}

function nav(views: View[]): HTMLElement {
  return h(
    'nav',
    { class: 'nav', 'aria-label': 'Views' },
    h(
      'ul',
      null,
      views.map((v) =>
        h(
          'li',
          null,
          h(
            'a',
            { href: address(v.name), 'aria-current': () => (view() === v.name ? 'page' : undefined) },
            shape(() => (v.needs && v.needs() ? 'needs' : v.look ? v.look() : 'idle')),
            h('span', { class: 'name' }, v.title),
            () => {
              const needs = v.needs ? v.needs() : 0
              const n = v.count ? v.count() : 0
              return needs
                ? h('span', { class: 'number needs' }, needs, h('span', { class: 'hidden' }, ' need you'))
                : n ? h('span', { class: 'number' }, n) : null
            },
          ),
        ),
      ),
    ),
  )
}

// The title and the icon say how much needs somebody, also of a window behind others.
function announce(): void {
  const icon = document.querySelector('link[rel=icon]') as HTMLLinkElement
  effect(() => {
    const n = data().needsMe()
    document.title = (n ? '(' + n + ') ' : '') + 'baton'
    const mark = n
      ? '<circle cx="16" cy="16" r="15" fill="%23b45309"/><text x="16" y="23" font-size="20" font-family="sans-serif" font-weight="bold" text-anchor="middle" fill="white">' + (n > 9 ? '9+' : n) + '</text>'
      : '<circle cx="16" cy="16" r="11" fill="none" stroke="%230a5cc8" stroke-width="6"/>'
    icon.href = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">' + mark.replace(/</g, '%3C').replace(/>/g, '%3E') + '</svg>'
  })
}

export function frame(views: View[]): HTMLElement {
  const main = h('main', { class: 'main', id: 'main', tabindex: -1 })
  let end = (): void => undefined
  const shown = memo(() => views.find((v) => v.name === view()) || null)
  effect(() => {
    const v = shown()
    if (!v) {
      history.replaceState(null, '', address(views[0].name))
      dispatchEvent(new HashChangeEvent('hashchange'))
      return
    }
    end()
    untracked(() =>
      root((e) => {
        end = e
        main.replaceChildren(v.show())
        main.scrollTop = 0
      }),
    )
  })
  announce()
  return h('div', { class: 'frame' }, h('a', { class: 'skip', href: '#main', onclick: (e: Event) => (e.preventDefault(), main.focus()) }, 'To the content'), top(views), nav(views), main, undoBar())
}

export function frameKeys(views: View[]): void {
  addKeys([
    { keys: '/', does: 'search', run: () => search(views) },
    { keys: '?', does: 'list the keys', run: () => showKeys(leave) },
    { keys: 'j', does: 'next row', run: () => step(1) },
    { keys: 'k', does: 'row before', run: () => step(-1) },
    { keys: 'Enter', does: 'open the row' },
    { keys: 'Escape', does: 'back to the list', run: back },
    ...goKeys(views),
  ])
}

// The list gets the focus by the first step.
function step(by: number): void {
  const rows = document.querySelector('.main .rows') as HTMLElement | null
  if (!rows) return
  rows.focus()
  rows.dispatchEvent(new KeyboardEvent('keydown', { key: by > 0 ? 'j' : 'k', bubbles: false }))
}

function back(): void {
  const rows = document.querySelector('.main .rows') as HTMLElement | null
  if (rows && document.activeElement !== rows && rows.offsetParent) rows.focus()
  else if (view()) go(view())
}
