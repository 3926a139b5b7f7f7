// format.ts: numbers, times and texts as people read them.

export function ago(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000))
  if (s < 60) return s + 's'
  if (s < 3600) return Math.floor(s / 60) + 'm'
  if (s < 48 * 3600) return Math.floor(s / 3600) + 'h'
  return Math.floor(s / 86400) + 'd'
}

// 90 s are "1m 30s": how long something took.
export function took(ms: number): string {
  if (ms < 1000) return Math.round(ms) + 'ms'
  const s = Math.round(ms / 1000)
  if (s < 60) return s + 's'
  if (s < 3600) return Math.floor(s / 60) + 'm ' + (s % 60) + 's'
  return Math.floor(s / 3600) + 'h ' + Math.floor((s % 3600) / 60) + 'm'
}

export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone

const exact = new Intl.DateTimeFormat(undefined, {
  year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit',
})
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })
const dayName = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })

export const when = (t: string | number): string => exact.format(new Date(t)) + ' ' + zone
export const hour = (t: string | number): string => clock.format(new Date(t))
export const day = (t: string | number): string => dayName.format(new Date(t))

export function money(usd: number): string {
  if (usd === 0) return '$0'
  if (usd < 0.01) return '<$0.01'
  return '$' + usd.toFixed(2)
}

export function count(n: number): string {
  if (n < 1000) return String(n)
  if (n < 100000) return (n / 1000).toFixed(1) + 'k'
  if (n < 1e6) return Math.round(n / 1000) + 'k'
  return (n / 1e6).toFixed(1) + 'M'
}

// Characters that would hide or turn what stands around them are shown as boxes with their number.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g

export const visible = (text: string): string =>
  text.replace(HIDDEN, (c) => '\u2336' + c.charCodeAt(0).toString(16).padStart(4, '0'))

export function short(text: string, most: number): string {
  return text.length > most ? text.slice(0, most - 1) + '…' : text
}

// A word of a shell, quoted where it must be.
export const shell = (word: string): string => (/^[\w./:@=,+-]+$/.test(word) ? word : "'" + word.replace(/'/g, "'\\''") + "'")

export const command = (...words: string[]): string => ['baton', ...words].map(shell).join(' ')

export function json(value: unknown): string {
  return JSON.stringify(value, null, 2) || 'null'
}
