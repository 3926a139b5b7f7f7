// route.ts: which thing is shown: each has an address of its own, behind the #.
import { memo, signal } from './core/signal'

export interface Place {
  view: string
  id: string
  query: URLSearchParams
}

function parse(): Place {
  const [path, q] = location.hash.replace(/^#\/?/, '').split('?', 2)
  const [view, ...rest] = path.split('/')
  const plain = (s: string): string => {
    try {
      return decodeURIComponent(s)
    } catch {
      return s
    }
  }
  return { view: plain(view), id: rest.map(plain).join('/'), query: new URLSearchParams(q || '') }
}

export const place = signal<Place>(parse())
addEventListener('hashchange', () => place.set(parse()))

export const view = memo(() => place().view)
export const id = memo(() => place().id)

type Fields = { [name: string]: string | number | undefined | null }

export function address(view: string, id = '', fields: Fields = {}): string {
  const q = new URLSearchParams()
  for (const k in fields) if (fields[k] !== undefined && fields[k] !== null && fields[k] !== '') q.set(k, String(fields[k]))
  const text = q.toString()
  return '#/' + view + (id ? '/' + encodeURIComponent(id) : '') + (text ? '?' + text : '')
}

export function go(view: string, id = '', fields: Fields = {}): void {
  location.hash = address(view, id, fields)
}

// One field of the address, without a new place in the history.
export function field(name: string): () => string {
  return memo(() => place().query.get(name) || '')
}

export function setFields(fields: Fields): void {
  const p = place.peek()
  const all: Fields = {}
  p.query.forEach((v, k) => (all[k] = v))
  history.replaceState(null, '', address(p.view, p.id, { ...all, ...fields }))
  place.set(parse())
}
