// bars.ts: how the time of a step was spent, for the timeline of an execution.

export interface Step {
  step: string
  title: string | null
  status: string
  after: string[]
  attempt: number
  started_at: string | null
  attempt_started_at: string | null
  ended_at: string | null
  waits_for: string | null
  error?: any
  opened?: number
  outputs?: any
  violations?: any
  history?: { attempt: number; outcome: string; started_at: string; ended_at: string; error?: string }[]
}

export interface Token {
  token: string
  node: string
  step: string | null
  status: string
  waits_for: string
  since: string
  item?: number
}

export interface Bar {
  from: number
  to: number
  kind: 'work' | 'machine' | 'person' | 'failed'
  says: string
}

// A command that is in a text of the server is not repeated here: there are buttons.
export const waits = (w: string): string => w.replace(/ \(baton [^)]*\)/, '')

export function barsOf(s: Step, tokens: Token[], approvals: any[], incidents: any[], at: number): Bar[] {
  const t = (x: string): number => Date.parse(x)
  const out: Bar[] = []
  const person: [number, number, string][] = [
    ...approvals.filter((a) => a.step === s.step).map((a) => [t(a.created_at), a.decided_at ? t(a.decided_at) : a.status === 'waiting' ? at : t(a.created_at), 'approval: ' + a.status] as [number, number, string]),
    ...incidents.filter((i) => i.step === s.step).map((i) => [t(i.raised_at), i.resolved_at ? t(i.resolved_at) : at, 'incident: ' + i.kind] as [number, number, string]),
  ]
  let last = 0
  for (const a of s.history || []) {
    if (last && t(a.started_at) > last) out.push({ from: last, to: t(a.started_at), kind: 'machine', says: 'before attempt ' + a.attempt })
    out.push({ from: t(a.started_at), to: t(a.ended_at), kind: a.outcome === 'completed' ? 'work' : 'failed', says: 'attempt ' + a.attempt + ': ' + a.outcome })
    last = t(a.ended_at)
  }
  const token = tokens.find((x) => x.step === s.step)
  if (s.started_at && !(s.history && s.history.length && !token && !s.ended_at)) {
    // What is done for each item of a list is at work from the first of them on.
    const each = tokens.some((x) => x.step === s.step && x.item !== undefined)
    const since = Math.max(last, t(s.started_at))
    const begin = s.attempt_started_at && !each ? Math.max(since, t(s.attempt_started_at)) : since
    const end = s.ended_at ? t(s.ended_at) : at
    if (begin > since) out.push({ from: since, to: begin, kind: 'machine', says: 'before attempt ' + s.attempt })
    const idle = token && (token.status === 'backoff' || (token.status === 'work' && (!s.attempt_started_at || /^a runner /.test(token.waits_for))))
    if (end > begin && !(token && token.status === 'incident')) out.push({ from: begin, to: end, kind: idle ? 'machine' : 'work', says: idle ? waits(token!.waits_for) : s.status.replace(/_/g, ' ') })
  }
  for (const [from, to, says] of person) out.push({ from, to: Math.max(to, from), kind: 'person', says })
  return out
}
