// store.ts: what was read, kept up to date.
//
// A read is repeated when an event says that it may be another now: soon, one at a time, and not more
// often than the answers come. What is shown stays until there is something newer, also when a read fails.
import { get, query, Refused } from './api'
import { batch, effect, memo, onEnd, signal, Read } from './core/signal'
import { Happened, hear, onAnew } from './live'
import { who } from './sign'

export interface Resource<T> {
  data: Read<T | undefined>
  error: Read<Refused | null>
  busy: Read<boolean>
  reload(): void
}

const PACE_MS = 200

// Runs `load` now and whenever it is asked for, one at a time; the next one not sooner than the last one
// has taken.
function paced(load: (signal: AbortSignal) => Promise<void>, busy: { set(v: boolean): void }) {
  let running: AbortController | null = null
  let again = false
  let timer = 0
  let ended = false
  function later(ms: number): void {
    if (!timer) timer = window.setTimeout(() => ((timer = 0), start()), ms)
  }
  function start(): void {
    if (ended) return
    if (running) {
      again = true
      return
    }
    const mine = (running = new AbortController())
    const began = performance.now()
    busy.set(true)
    load(mine.signal).finally(() => {
      if (running !== mine) return
      running = null
      busy.set(false)
      if (again) {
        again = false
        later(Math.max(PACE_MS, performance.now() - began))
      }
    })
  }
  return {
    now(): void {
      running?.abort()
      running = null
      again = false
      start()
    },
    soon: () => later(PACE_MS),
    end(): void {
      ended = true
      clearTimeout(timer)
      running?.abort()
    },
  }
}

export function resource<T = any>(path: Read<string | null>, concerns: (e: Happened) => boolean): Resource<T> {
  const data = signal<T | undefined>(undefined)
  const error = signal<Refused | null>(null)
  const busy = signal(false)
  let of: string | null = null
  const p = paced(async (signal) => {
    const asked = of
    if (asked === null) return
    try {
      const answer = await get<T>(asked, signal)
      if (asked === of) batch(() => (data.set(answer), error.set(null)))
    } catch (e) {
      if (e instanceof Refused && asked === of) error.set(e)
      else if (!(e instanceof Refused) && (e as Error).name !== 'AbortError') throw e
    }
  }, busy)
  effect(() => {
    const next = path()
    void who()
    if (next !== of) batch(() => (data.set(undefined), error.set(null)))
    of = next
    p.now()
  })
  const off = [hear((events) => events.some(concerns) && p.soon()), onAnew(() => p.soon())]
  onEnd(() => (off.forEach((f) => f()), p.end()))
  return { data, error, busy, reload: () => p.now() }
}

export interface Collection<T> {
  all: Read<T[]>
  loaded: Read<boolean> // all pages of it have come
  error: Read<Refused | null>
  one(id: string): T | undefined
  reload(): void
  put(t: T): void
}

export interface CollectionOptions<T> {
  lists: Read<string[]> // the addresses of the lists, with their filters
  member: string // of the answer: where the rows are
  id: (t: T) => string
  address: (id: string) => string | null // of one; null: it cannot be asked for
  keep?: (t: T) => boolean // whether it belongs to the lists, when it was asked for by itself
  concerns: (e: Happened) => string | null // the id that an event is of; '': any of them
}

const PAGE = 500
const MOST = 20000
const ONE_BY_ONE = 12 // changed at a time; more are read as lists

// All rows of some lists.
export function collection<T>(o: CollectionOptions<T>): Collection<T> {
  const rows = signal<Map<string, T>>(new Map())
  const loaded = signal(false)
  const error = signal<Refused | null>(null)
  const busy = signal(false)
  let lists: string[] = []
  let changed = new Set<string>()
  let timer = 0

  async function pages(signal: AbortSignal): Promise<void> {
    const found = new Map<string, T>()
    const first = !loaded.peek()
    try {
      for (const list of lists) {
        let after: string | number | undefined
        do {
          const sep = list.includes('?') ? '&' : '?'
          const answer: any = await get(list + sep + query({ limit: PAGE, after }).slice(1), signal)
          for (const t of answer[o.member]) found.set(o.id(t), t)
          after = answer.next
          if (first) rows.set(new Map(found)) // what is there is shown at once
        } while (after !== undefined && after !== null && found.size < MOST)
      }
      batch(() => (rows.set(found), loaded.set(true), error.set(null)))
    } catch (e) {
      if (e instanceof Refused) error.set(e)
      else if ((e as Error).name !== 'AbortError') throw e
    }
  }
  const p = paced(pages, busy)

  async function single(id: string): Promise<void> {
    const address = o.address(id)
    if (!address) return p.soon()
    let t: T | null = null
    try {
      t = await get<T>(address)
    } catch (e) {
      if (!(e instanceof Refused) || e.status !== 404) return
    }
    const next = new Map(rows.peek())
    if (t && (!o.keep || o.keep(t))) next.set(o.id(t), t)
    else next.delete(id)
    rows.set(next)
  }

  function catchUp(): void {
    timer = 0
    const ids = changed
    changed = new Set()
    if (ids.size > ONE_BY_ONE) p.soon()
    else ids.forEach((id) => void single(id))
  }

  effect(() => {
    lists = o.lists()
    void who()
    loaded.set(false)
    p.now()
  })
  const off = [
    hear((events) => {
      for (const e of events) {
        const id = o.concerns(e)
        if (id === '') p.soon()
        else if (id) changed.add(id)
      }
      if (changed.size && !timer) timer = window.setTimeout(catchUp, PACE_MS)
    }),
    onAnew(() => p.soon()),
  ]
  onEnd(() => (off.forEach((f) => f()), p.end(), clearTimeout(timer)))
  const all = memo(() => [...rows().values()])
  return {
    all,
    loaded,
    error,
    one: (id) => rows().get(id),
    reload: () => p.now(),
    put: (t) => rows.set(new Map(rows.peek()).set(o.id(t), t)),
  }
}

// The time, for what says how long ago something was; everything that shows it moves together.
export const now = signal(Date.now())
setInterval(() => now.set(Date.now()), 1000)
