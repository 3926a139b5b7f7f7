// output.ts: what the agent of a run writes, while it writes.
import { h } from '../core/dom'
import { onEnd, signal } from '../core/signal'
import { get, part, Refused } from '../api'
import { visible } from '../format'
import { problem } from './parts'

const WAIT_S = 20
const KEEP = 2000 // pieces that are shown

export function output(run: string): HTMLElement {
  const failed = signal<Refused | null>(null)
  const state = signal('')
  const place = h('div', { class: 'output', role: 'log', 'aria-live': 'off', 'aria-label': 'Output', tabindex: 0 })
  const stop = new AbortController()
  onEnd(() => stop.abort())

  async function follow(): Promise<void> {
    let after = 0
    let wait = 0
    while (!stop.signal.aborted) {
      const page: any = await get('/runs/' + part(run) + '/output?limit=1000&after=' + after + (wait ? '&wait=' + wait : ''), stop.signal)
      const atEnd = place.scrollTop + place.clientHeight >= place.scrollHeight - 8
      for (const p of page.output) place.append(h('span', { class: p.stream === 'stderr' ? 'stderr' : undefined }, visible(p.text)))
      while (place.childNodes.length > KEEP) place.firstChild!.remove()
      if (atEnd) place.scrollTop = place.scrollHeight
      after = page.next
      state.set(page.ended ? (place.childNodes.length ? '' : 'It has written nothing.') : page.output.length || place.childNodes.length ? '' : 'Nothing yet.')
      if (page.ended) return
      wait = page.output.length ? 0 : WAIT_S
    }
  }
  follow().catch((e) => {
    if (e instanceof Refused) failed.set(e)
    else if (e.name !== 'AbortError') throw e
  })
  return h('div', null, () => problem(failed()), () => (state() ? h('p', { class: 'muted' }, state()) : null), place)
}
