// live.ts: what happens, as it happens, and whether that is true.
//
// One WebSocket; all events from a number on. When it breaks, the next one begins where this one ended,
// so nothing is missed; where the log does not reach back that far, the server says so, and everything is
// read anew. A line that says nothing is asked whether it is there: a page must not say "live" over
// a dead one.
import { batch, effect, signal } from './core/signal'
import { signOut, who } from './sign'

export interface Happened {
  seq: number
  type: string
  subject: string
  time: string
  actor: string
  version?: number
  cause?: number
  data: any // of a state: the patch
}

export type State =
  | { is: 'off' }
  | { is: 'connecting'; since: number }
  | { is: 'catching up'; count: number }
  | { is: 'live' }
  | { is: 'down'; since: number; again: number; why: string }

const PING_MS = 10000
const PONG_MS = 5000
const OPEN_MS = 8000
const WAITS_MS = [500, 1000, 2000, 4000, 8000]

export const live = signal<State>({ is: 'off' })
export const seen = signal(-1) // the number up to which all is known

type Hear = (events: Happened[]) => void
const hearers = new Set<Hear>()
const anew = new Set<() => void>()

export function hear(fn: Hear): () => void {
  hearers.add(fn)
  return () => hearers.delete(fn)
}

// When what was read may be older than what can be heard of.
export function onAnew(fn: () => void): () => void {
  anew.add(fn)
  return () => anew.delete(fn)
}

let socket: WebSocket | null = null
let lost = 0 // since when
let tries = 0
let timer = 0
let pinger = 0
let ponger = 0

// Events are handed on together, once in a frame: a burst is one change of the page.
let gathered: Happened[] = []
let handing = false

function hand(): void {
  handing = false
  const events = gathered
  gathered = []
  batch(() => {
    seen.set(events[events.length - 1].seq)
    hearers.forEach((h) => h(events))
  })
}

function gather(e: Happened): void {
  gathered.push(e)
  if (!handing) {
    handing = true
    // A page that nobody looks at has no frames, and is to know all the same.
    if (document.hidden) setTimeout(hand, 100)
    else requestAnimationFrame(hand)
  }
}

function newest(): number {
  return gathered.length ? gathered[gathered.length - 1].seq : seen.peek()
}

function message(m: any): void {
  const state = live.peek()
  if (m.event_type) {
    gather({
      seq: m.seq, type: m.event_type, subject: m.state_id || m.subject, time: m.timestamp, actor: m.actor,
      version: m.version, cause: m.cause, data: m.data !== undefined ? m.data : m.patch,
    })
    if (state.is === 'catching up') live.set({ is: 'catching up', count: state.count + 1 })
  } else if (m.type === 'authenticated') {
    subscribe()
  } else if (m.type === 'snapshot') {
    if (seen.peek() < 0) {
      seen.set(m.seq)
      settled()
      anew.forEach((fn) => fn())
    }
  } else if (m.type === 'caught_up') {
    settled()
  } else if (m.type === 'reset') {
    gathered = []
    seen.set(m.newest)
    anew.forEach((fn) => fn())
  } else if (m.type === 'pong') {
    clearTimeout(ponger)
    ponger = 0
  } else if (m.type === 'error') {
    socket?.close(4000, m.detail)
  }
}

function settled(): void {
  lost = 0
  tries = 0
  live.set({ is: 'live' })
}

function subscribe(): void {
  const after = newest()
  if (after >= 0) live.set({ is: 'catching up', count: 0 })
  send(after >= 0 ? { action: 'subscribe', id: 'page', after } : { action: 'subscribe', id: 'page' })
}

function send(m: unknown): void {
  if (socket && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(m))
}

function ping(): void {
  send({ action: 'ping', id: 'p' })
  if (!ponger) ponger = window.setTimeout(() => drop(socket, 'the server has stopped answering'), PONG_MS)
}

function drop(s: WebSocket | null, why: string): void {
  if (!s || s !== socket) return
  socket = null
  clearInterval(pinger)
  clearTimeout(ponger)
  ponger = 0
  s.onopen = s.onmessage = s.onclose = s.onerror = null
  s.close()
  if (!who.peek()) return
  lost = lost || Date.now()
  const wait = WAITS_MS[Math.min(tries++, WAITS_MS.length - 1)] * (0.8 + Math.random() * 0.4)
  live.set({ is: 'down', since: lost, again: Date.now() + wait, why })
  clearTimeout(timer)
  timer = window.setTimeout(connect, wait)
}

export function connect(): void {
  clearTimeout(timer)
  const w = who.peek()
  if (!w || (socket && socket.readyState <= WebSocket.OPEN)) return
  const s = new WebSocket((location.protocol === 'https:' ? 'wss://' : 'ws://') + location.host + '/ws', ['baton.v1'])
  socket = s
  if (live.peek().is === 'off') live.set({ is: 'connecting', since: Date.now() })
  setTimeout(() => s.readyState === WebSocket.CONNECTING && drop(s, 'the server does not answer'), OPEN_MS)
  s.onopen = () => {
    send({ action: 'auth', token: w.token })
    clearInterval(pinger)
    pinger = window.setInterval(ping, PING_MS)
  }
  s.onmessage = (e) => batch(() => message(JSON.parse(e.data)))
  s.onerror = () => undefined
  s.onclose = (e) => {
    if (e.code === 1008 && who.peek() === w && /token/.test(e.reason) && !/connections/.test(e.reason)) {
      socket = null
      signOut('Your token is not valid any more: ' + e.reason + '.')
      return
    }
    drop(s, e.reason || (e.code === 1006 ? 'there is no connection' : 'the connection was closed'))
  }
}

function disconnect(): void {
  const s = socket
  socket = null
  clearInterval(pinger)
  clearTimeout(timer)
  clearTimeout(ponger)
  ponger = 0
  if (s) {
    s.onclose = s.onmessage = null
    s.close()
  }
  batch(() => {
    seen.set(-1)
    live.set({ is: 'off' })
  })
}

export function startLive(): void {
  let known: string | null = null
  effect(() => {
    const token = who()?.token || null
    if (token === known) return
    known = token
    disconnect()
    if (token) connect()
  })
  addEventListener('online', connect)
  // A machine that has slept may have missed that the line is dead.
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && live.peek().is === 'down') connect()
    else if (!document.hidden && socket) ping()
  })
}
