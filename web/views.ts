// views.ts: the views, one line for each, in the order of the navigation.
import type { Look } from './parts/parts'
import { data } from './data'
import { sessions } from './views/sessions'

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
  { name: 'sessions', title: 'Sessions', key: 's', show: sessions, count: () => data().sessions.all().length, look: () => 'running' },
]
