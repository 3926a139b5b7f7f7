// api.ts: what is asked of the server. Everything it can do is an operation, see docs/operations.md.
import { signOut, who } from './sign'

// What the server said no to, in its own words.
export class Refused extends Error {
  constructor(readonly status: number, readonly title: string, detail: string, readonly more: Record<string, unknown>) {
    super(detail || title)
  }
}

export async function call<T = any>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const w = who.peek()
  const headers: Record<string, string> = { Accept: 'application/json' }
  if (w) headers.Authorization = 'Bearer ' + w.token
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  let r: Response
  try {
    r = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal, credentials: 'omit' })
  } catch (e) {
    if ((e as Error).name === 'AbortError') throw e
    throw new Refused(0, 'No answer', 'the server does not answer', {})
  }
  const text = await r.text()
  let answer: any = null
  if (text) {
    try {
      answer = JSON.parse(text)
    } catch {
      answer = { detail: text.slice(0, 400) }
    }
  }
  if (r.ok) return answer
  const { title, detail, type, status, ...more } = answer || {}
  void type, void status
  if (r.status === 401 && w && who.peek() === w) signOut('Your token is not valid any more: ' + (detail || 'it has expired or was revoked') + '.')
  throw new Refused(r.status, title || 'Refused', detail || 'the server says ' + r.status, more)
}

export const get = <T = any>(path: string, signal?: AbortSignal): Promise<T> => call<T>('GET', path, undefined, signal)
export const post = <T = any>(path: string, body: unknown = {}): Promise<T> => call<T>('POST', path, body)

export const part = (text: string): string => encodeURIComponent(text)

export function query(fields: Record<string, string | number | boolean | undefined | null>): string {
  const q = new URLSearchParams()
  for (const k in fields) {
    const v = fields[k]
    if (v !== undefined && v !== null && v !== '') q.set(k, String(v))
  }
  const text = q.toString()
  return text ? '?' + text : ''
}
