// data.ts: what more than one view shows, read once for all of them: so a count in the navigation is that
// of the list behind it.
import { memo, root, signal, Read, Signal } from './core/signal'
import { collection, resource, Collection, Resource } from './store'
import { Happened } from './live'
import { part } from './api'
import { Entry, inbox } from './desk'

export interface Session {
  session_id: string
  session_name: string
  status: 'pending' | 'running' | 'idle' | 'finished' | 'failed' | 'stopped'
  settled: boolean
  state_update_status: 'pending' | 'completed' | 'failed' | 'skipped' | null
  error: string | null
  workflow_state_id: string | null
  cycle: number
  last_event: string | null
  last_event_at: string | null
  notice: string | null
  notice_until: string | null
  usage: { input_tokens: number; output_tokens: number; cached_tokens: number; cost_usd?: number; models?: any }
  parent_session_id: string | null
  parent_session_name: string | null
  root_session_id: string
  depth: number
  agent_name: string | null
  profile: string | null
  project_dir: string | null
  pointers: string[] | null
  attended: boolean
  project: string | null
  worktree: string | null
  silent: boolean
  wake: boolean
  run_id: string | null
  result_run_id: string | null
  client_id: string | null
  hostname: string | null
  git: any
  created_at: string
  updated_at: string
  ended_at: string | null
}

export interface StateHead {
  state_id: string
  name: string | null
  schema_id: string
  schema_name: string
  schema_version: number
  root_session_id: string | null
  root_session_name: string | null
  version: number
  created_at: string
  updated_at: string
  schema_description?: string
}

export interface Execution {
  execution_id: string
  workflow: string
  version: number
  status: 'RUNNING' | 'PAUSED' | 'COMPLETED' | 'FAILED' | 'CANCELLED'
  reason: string | null
  failing: boolean
  incidents: number
  state_id: string | null
  session_id: string | null
  session_name: string | null
  business_key: string | null
  started_by: string
  created_at: string
  updated_at: string
  ended_at: string | null
}

const LIVE = ['pending', 'running', 'idle', 'failed']

// What lists show is remembered by this browser.
function choice(name: string, otherwise: boolean): Signal<boolean> {
  const kept = localStorage.getItem('baton.' + name)
  const s = signal(kept === null ? otherwise : kept === 'yes')
  return Object.assign(() => s(), { peek: s.peek, set: (v: boolean) => (localStorage.setItem('baton.' + name, v ? 'yes' : 'no'), s.set(v)) })
}

export const allSessions = choice('sessions', false)
export const allStates = choice('states', true)
export const allExecutions = choice('executions', true)

const ofSession = /^(session_|run_|callback_|wake_|message_|approval_)/
const ofState = /^workflow_state_/
const ofExecution = /^(execution_|incident_)/

// What an event of a run or the like is about is said in its data.
function sessionOf(e: Happened): string | null {
  if (!ofSession.test(e.type)) return null
  const d = e.data || {}
  return d.session_id || d.receiver_id || d.parent_session_id || (e.type.startsWith('session_') ? e.subject : '') || ''
}

export interface Data {
  sessions: Collection<Session>
  states: Collection<StateHead>
  executions: Collection<Execution>
  runners: Resource<any>
  inbox: Collection<Entry>
  needsMe: Read<number>
}

let made: Data | null = null

export function data(): Data {
  return (made = made || make())
}

// What it cost; null: nobody has told, which is not the same as nothing.
export function costOf(s: Session): number | null {
  const u = s.usage
  return u && typeof u.cost_usd === 'number' && (u.cost_usd > 0 || u.input_tokens > 0 || u.output_tokens > 0) ? u.cost_usd : null
}

// Failed roots ask for somebody for a day; then they are history. As baton top counts them.
const DAY_MS = 24 * 3600 * 1000
export const needsYou = (s: Session): boolean =>
  s.status === 'failed' && !s.parent_session_id && Date.now() - Date.parse(s.ended_at || s.updated_at) < DAY_MS

function make(): Data {
  return root(() => {
    const sessions = collection<Session>({
      lists: memo(() => (allSessions() ? ['/sessions'] : LIVE.map((s) => '/sessions?status=' + s))),
      member: 'sessions',
      id: (s) => s.session_id,
      address: (id) => '/sessions/' + part(id),
      keep: (s) => allSessions.peek() || LIVE.includes(s.status),
      concerns: sessionOf,
    })
    const states = collection<StateHead>({
      lists: memo(() => [allStates() ? '/workflow-states' : '/workflow-states?active=true']),
      member: 'states',
      id: (s) => s.state_id,
      address: () => null,
      concerns: (e) => (ofState.test(e.type) || e.type === 'session_bound' || e.type === 'session_settled' ? '' : null),
    })
    const executions = collection<Execution>({
      lists: memo(() => [allExecutions() ? '/executions' : '/executions?status=open']),
      member: 'executions',
      id: (e) => e.execution_id,
      address: (id) => '/executions/' + part(id),
      keep: (e) => allExecutions.peek() || e.status === 'RUNNING' || e.status === 'PAUSED',
      concerns: (e) => (ofExecution.test(e.type) ? (e.data && e.data.execution_id) || (e.type.startsWith('execution_') ? e.subject : '') : null),
    })
    const runners = resource(() => '/runners?limit=500', (e) => /^runner_/.test(e.type))
    const desk = inbox()
    const needsMe = memo(() => desk.all().length)
    return { sessions, states, executions, runners, inbox: desk, needsMe }
  })
}
