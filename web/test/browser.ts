// browser.ts: Chromium for tests: a page that is signed in, and what it must never do.
import { chromium } from 'playwright-core'
import { Server } from './server'

const ARGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']

export const start = (): Promise<any> => chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ARGS })

export interface Seen {
  wrong: string[] // errors, what the policy refused, requests that leave the origin
}

// Opens the page in a window of its own, as somebody.
export async function open(browser: any, s: Server, args: string[] = [], options: Record<string, unknown> = {}): Promise<{ page: any; seen: Seen; context: any }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', ...options })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: s.url })
  const page = await context.newPage()
  const seen: Seen = { wrong: [] }
  page.on('pageerror', (e: any) => seen.wrong.push('error: ' + (e.stack || e)))
  page.on('console', (m: any) => {
    // What the server refuses is said by the page itself; the browser says it here, too.
    if (m.type() === 'error' && !/Failed to load resource|WebSocket connection|ERR_CONNECTION_REFUSED/.test(m.text())) seen.wrong.push('console: ' + m.text())
  })
  page.on('request', (r: any) => {
    const url = r.url()
    if (!url.startsWith(s.url + '/') && !url.startsWith(s.url.replace('http', 'ws') + '/') && !url.startsWith('data:')) seen.wrong.push('asks elsewhere: ' + url)
  })
  await page.goto(s.baton('open', '--print', ...args))
  await page.waitForSelector('.frame')
  await page.waitForFunction(() => document.querySelector('.live')!.textContent!.includes('live'))
  return { page, seen, context }
}

export async function go(page: any, address: string): Promise<void> {
  await page.evaluate((a: string) => void (location.hash = a), '#/' + address)
  await settled(page)
}

// Until nothing was asked for a while, and all was drawn.
export async function settled(page: any): Promise<void> {
  await page.waitForTimeout(50)
  let last = -1
  for (let i = 0; i < 100; i++) {
    const now = await page.evaluate(() => performance.getEntriesByType('resource').length)
    if (now === last) break
    last = now
    await page.waitForTimeout(120)
  }
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(null)))))
}

export const LOOKS: [string, Record<string, unknown>][] = [
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['narrow', { colorScheme: 'light', viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }],
]

// Every view, with one of its things open.
export async function addresses(s: Server): Promise<[string, string][]> {
  const inbox = (await s.ask('GET', '/inbox')).entries
  const executions = (await s.ask('GET', '/executions')).executions
  const states = (await s.ask('GET', '/workflow-states')).states
  const demo = states.find((x: any) => x.schema_name === 'demo-release')
  const incident = executions.find((x: any) => x.workflow === 'nightly')
  const approval = inbox.find((x: any) => x.kind === 'approval')
  return [
    ['inbox', 'inbox'],
    ['inbox-one', 'inbox/' + (approval || inbox[0]).id],
    ['sessions', 'sessions'],
    ['session', 'sessions/ill'],
    ['states', 'state'],
    ['state', 'state/' + demo.state_id],
    ['state-diff', 'state/' + demo.state_id + '?v=4&show=diff'],
    ['state-versions', 'state/' + demo.state_id + '?show=history'],
    ['state-hostile', 'state/hostile'],
    ['executions', 'executions'],
    ['execution', 'executions/' + incident.execution_id],
    ['execution-time', 'executions/' + incident.execution_id + '?show=time'],
    ['execution-graph', 'executions/' + incident.execution_id + '?show=graph'],
    ['events', 'events'],
    ['event', 'events/10'],
    ['cost', 'cost'],
    ['health', 'health'],
  ]
}
