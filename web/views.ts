// views.ts: the views, one line for each, in the order of the navigation.
import type { Look } from './parts/parts'
import { data } from './data'
import { cost } from './views/cost'
import { executions } from './views/executions'
import { inboxView } from './views/inbox'
import { events } from './views/events'
import { health } from './views/health'
import { sessions } from './views/sessions'
import { state } from './views/state'

export interface View {
  name: string // in addresses
  title: string
  key: string // behind g
  show: () => HTMLElement
  count?: () => number
  needs?: () => number
  look?: () => Look
}

export const views: View[] = [
  { name: 'inbox', title: 'Inbox', key: 'i', show: inboxView, needs: () => data().needsMe() },
  { name: 'sessions', title: 'Sessions', key: 's', show: sessions, count: () => data().sessions.all().length, look: () => 'running' },
  { name: 'state', title: 'State', key: 't', show: state, count: () => data().states.all().length },
  { name: 'executions', title: 'Executions', key: 'x', show: executions, count: () => data().executions.all().filter((e) => !e.ended_at).length },
  { name: 'events', title: 'Events', key: 'e', show: events },
  { name: 'cost', title: 'Cost', key: 'c', show: cost },
  { name: 'health', title: 'Health', key: 'h', show: health },
]
