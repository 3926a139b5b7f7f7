// sign.ts: who the page is: the token that it got for the code in its address.
//
// It is kept in this origin's storage and shown as Authorization, never as a cookie, which every other
// server of this machine would get. A code is taken out of the address before anything else is done.
import { signal } from './core/signal'

export interface Who {
  token: string
  token_id: string
  kind: 'operator' | 'viewer'
  name: string
  expires_at: string | null
}

const KEY = 'baton.who'

function stored(): Who | null {
  try {
    const who = JSON.parse(localStorage.getItem(KEY) || 'null')
    return who && typeof who.token === 'string' && (!who.expires_at || Date.parse(who.expires_at) > Date.now()) ? who : null
  } catch {
    return null
  }
}

export const who = signal<Who | null>(stored())
export const signError = signal('')

export const mayAct = (): boolean => who()?.kind === 'operator'

// Another window may have signed in meanwhile, by which this one's token has ended: then it goes on as that.
export function signOut(why: string): void {
  const kept = stored()
  const mine = who.peek()
  if (kept && mine && kept.token !== mine.token) {
    who.set(kept)
    return
  }
  localStorage.removeItem(KEY)
  signError.set(why)
  who.set(null)
}

// Another window of this origin may sign in or out.
addEventListener('storage', (e) => {
  if (e.key === KEY || e.key === null) who.set(stored())
})

function takeCode(): string {
  const found = /^#code=([\w.-]{1,200})$/.exec(location.hash)
  if (!found) return ''
  history.replaceState(null, '', location.pathname + '#/')
  return found[1]
}

async function exchange(code: string): Promise<void> {
  // Others may have tried too often; a code is good for longer than that takes.
  for (let tries = 0; ; tries++) {
    const r = await fetch('/sign-in', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ code }),
      credentials: 'omit',
    })
    const answer = await r.json()
    if (r.status === 429 && tries < 15) {
      await new Promise((done) => setTimeout(done, 1000))
      continue
    }
    if (!r.ok) throw new Error(answer.detail || answer.title || 'the server says ' + r.status)
    const { token, token_id, kind, name, expires_at } = answer
    const old = who.peek()
    localStorage.setItem(KEY, JSON.stringify({ token, token_id, kind, name, expires_at }))
    who.set({ token, token_id, kind, name, expires_at })
    signError.set('')
    // What was signed in here before is not needed any more.
    if (old) void revoke(old)
    return
  }
}

export function revoke(w: Who): Promise<unknown> {
  return fetch('/tokens/' + encodeURIComponent(w.token_id), {
    method: 'DELETE',
    headers: { Authorization: 'Bearer ' + w.token },
    credentials: 'omit',
  }).catch(() => undefined)
}

export async function signIn(): Promise<void> {
  const code = takeCode()
  if (!code) return
  try {
    await exchange(code)
  } catch (e) {
    signError.set((e as Error).message)
  }
}

// A code that is opened in a window that is there already.
addEventListener('hashchange', () => void signIn())
