// bench.ts: how long the first view takes with 10,000 sessions and 1,000 executions, and what a burst of events
// does to a page that shows them.
import { go, open, start } from './browser'
import { Server } from './server'

const SESSIONS = Number(process.env.SESSIONS || 10000)
const EXECUTIONS = Number(process.env.EXECUTIONS || 1000)
const BURST = 1000

async function many(n: number, at: number, one: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0
  await Promise.all(Array.from({ length: at }, async () => {
    while (next < n) await one(next++)
  }))
}

const line = (what: string, value: string): void => console.log(what.padEnd(58) + value)

async function main(): Promise<void> {
  const s = new Server(process.env.BATON)
  await s.start()
  const browser = await start()
  try {
    await many(SESSIONS, 50, (i) => s.ask('POST', '/sessions', { session_name: 's' + i, ...(i % 10 ? { parent_session_name: 's' + (i - (i % 10)) } : {}) }).catch(async () => {
      // Its parent comes later.
      await new Promise((done) => setTimeout(done, 200))
      await s.ask('POST', '/sessions', { session_name: 's' + i, parent_session_name: 's' + (i - (i % 10)) })
    }))
    s.deploy({ workflow: 'w', steps: [{ id: 'a', job: 'none' }, { id: 'b', after: ['a'], job: 'none' }] })
    await many(EXECUTIONS, 50, () => s.ask('POST', '/executions', { workflow: 'w' }))
    const state = await s.ask('POST', '/workflow-schemas', { name: 'n', json_schema: true }).then(() => s.ask('POST', '/workflow-states', { schema_name: 'n', name: 'n', initial_data: { n: 0 } }))

    const { page, context } = await open(browser, s)
    await page.evaluate(() => (location.hash = '#/sessions'))
    await page.waitForSelector('.row')
    for (let i = 0; i < 2; i++) {
      // The second time the browser has the files.
      await page.reload()
      await page.waitForSelector('.row')
      line('sessions, first rows to be seen' + (i ? ', again' : ''), Math.round(await page.evaluate(() => performance.now())) + ' ms')
    }
    await page.waitForFunction((n: number) => Number(document.querySelectorAll('.nav .number')[0]!.textContent) >= n, SESSIONS, { timeout: 60000 })
    line('sessions, all of them', Math.round(await page.evaluate(() => performance.now())) + ' ms')
    line('elements of the page then', String(await page.evaluate(() => document.querySelectorAll('*').length)))

    await page.evaluate(() => {
      const w = window as any
      w.longest = 0
      new PerformanceObserver((l) => l.getEntries().forEach((e) => (w.longest = Math.max(w.longest, e.duration)))).observe({ entryTypes: ['longtask'] })
    })
    for (const [name, address] of [['sessions', 'sessions'], ['events', 'events'], ['state', 'state/n']]) {
      await go(page, address)
      await page.waitForTimeout(1000)
      await page.evaluate(() => ((window as any).longest = 0))
      const began = Date.now()
      await many(BURST, 50, (i) => s.ask('PATCH', '/workflow-states/' + state.state_id, { operations: [{ op: 'replace', path: '/n', value: i + 1 }], touch: true }))
      const wrote = Date.now() - began
      await page.waitForTimeout(1500)
      line('longest task in a burst of ' + BURST + ' events (' + wrote + ' ms), ' + name, Math.round(await page.evaluate(() => (window as any).longest)) + ' ms')
    }
    await context.close()
  } finally {
    await browser.close()
    await s.end()
  }
}

void main()
