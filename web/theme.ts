// theme.ts: light, dark, or as the system has it.
import { memo, signal } from './core/signal'

const names = ['system', 'light', 'dark'] as const
const titles = { system: 'System', light: 'Light', dark: 'Dark' }
const signs = { system: '◑', light: '☼', dark: '☾' }
const KEY = 'baton.theme'
const kept = localStorage.getItem(KEY) as (typeof names)[number]
const chosen = signal(names.includes(kept) ? kept : 'system')

function apply(): void {
  const t = chosen.peek()
  if (t === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = t
}
apply()

export const theme = memo(() => ({ name: chosen(), title: titles[chosen()], sign: signs[chosen()] }))

export function nextTheme(): void {
  chosen.set(names[(names.indexOf(chosen.peek()) + 1) % names.length])
  localStorage.setItem(KEY, chosen.peek())
  apply()
}
