// page.ts: what the page promises, in a browser, on a server with a team in it.
//
// Prints a line for each test, and ends with 1 when one has failed.
import { addresses, go, LOOKS, open, settled, start } from './browser'
import { fill, HOSTILE, Server, until } from './server'

const { readFileSync } = require('node:fs')
const axe = readFileSync(process.env.AXE, 'utf8')
const only = process.argv[2] || ''

const tests: [string, (browser: any, s: Server) => Promise<void>][] = []
const test = (name: string, run: (browser: any, s: Server) => Promise<void>): void => void tests.push([name, run])

function equal(found: unknown, expected: unknown, what = ''): void {
  if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(what + ': expected ' + JSON.stringify(expected) + ', found ' + JSON.stringify(found))
}
function has(text: string, part: string): void {
  if (!text.includes(part)) throw new Error('expected to find ' + JSON.stringify(part) + ' in ' + text.slice(0, 600))
}

const words = (page: any, selector = 'body'): Promise<string> => page.evaluate((q: string) => (document.querySelector(q) as HTMLElement).innerText, selector)

async function clean(page: any, what: string): Promise<void> {
  // By the protocol of the browser: the page's own policy lets no script in that is not the page's.
  await page.context().newCDPSession(page).then(async (c: any) => {
    await c.send('Runtime.evaluate', { expression: axe })
    const { result } = await c.send('Runtime.evaluate', {
      expression: "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }).then((r) => JSON.stringify(r.violations.map((v) => v.id + ': ' + v.help + ' ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + ' (' + n.any.concat(n.all).map((x) => x.message).join('; ').slice(0, 200) + ')').join(' | '))))",
      awaitPromise: true, returnByValue: true,
    })
    await c.detach()
    equal(JSON.parse(result.value), [], what)
  })
}

for (const [look, options] of LOOKS)
  test('every view can be used by everybody, ' + look, async (browser, s) => {
    const { page, seen, context } = await open(browser, s, [], options)
    const wrong: string[] = []
    for (const [name, address] of await addresses(s)) {
      await go(page, address)
      await clean(page, name).catch((e: Error) => wrong.push(e.message))
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      if (wide > 0) wrong.push(name + ' is wider than the window, by ' + wide)
    }
    await page.keyboard.press('?')
    await clean(page, 'the keys').catch((e: Error) => wrong.push(e.message))
    equal(wrong, [])
    equal(seen.wrong, [])
    await context.close()
  })

test('the page says what to type to who is not signed in', async (browser, s) => {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(s.url + '/')
  await page.waitForSelector('.plain')
  has(await words(page), 'baton open')
  await clean(page, 'signed out')
  await page.goto(s.url + '/#code=cd_none.x')
  await page.waitForSelector('[role=alert]')
  has(await words(page), 'was used, or its time is over')
  equal(await page.evaluate(() => location.hash), '#/')
  await context.close()
})

test('nothing of an agent becomes anything but text', async (browser, s) => {
  const { page, seen, context } = await open(browser, s, ['--as', HOSTILE.slice(0, 60)])
  const inbox = (await s.ask('GET', '/inbox')).entries
  const executions = (await s.ask('GET', '/executions')).executions
  const places = [
    ...inbox.map((e: any) => 'inbox/' + e.id), 'sessions/ill', 'state/hostile', 'state/hostile?show=history', 'state/hostile?show=diff&v=2',
    ...executions.map((e: any) => 'executions/' + e.execution_id), ...executions.map((e: any) => 'executions/' + e.execution_id + '?show=values'),
    ...executions.map((e: any) => 'executions/' + e.execution_id + '?show=graph'), ...executions.map((e: any) => 'executions/' + e.execution_id + '?show=time'),
    'events', 'health', 'cost',
  ]
  let shown = 0
  for (const place of places) {
    await go(page, place)
    await page.evaluate(() => document.querySelectorAll('details').forEach((d) => (d.open = true)))
    await settled(page)
    const made = await page.evaluate(() => document.querySelectorAll('body img, body script, body iframe, body form[action], a[href^="javascript"]').length)
    equal(made, 0, place)
    if ((await words(page)).includes('<img src=x onerror=')) shown++
  }
  equal(await page.evaluate(() => (window as any).hacked), undefined)
  if (shown < 8) throw new Error('expected to see the text in more places than ' + shown)
  has(await page.evaluate(() => document.querySelector('.person')!.textContent!), '<img')
  equal(seen.wrong, [])
  await context.close()
})

test('an approval is found, judged and given by keys alone', async (browser, s) => {
  const { page, seen, context } = await open(browser, s, ['--as', 'ann'])
  const before = (await s.ask('GET', '/inbox?kind=approval')).entries.length
  await page.keyboard.press('g')
  await page.keyboard.press('i')
  await page.waitForSelector('.row')
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.detail .facts')
  await settled(page)
  const id = (await page.evaluate(() => location.hash)).split('/')[2].split('?')[0]
  // Taken back, nothing has happened.
  await page.keyboard.press('a')
  await page.waitForSelector('.undo')
  await page.keyboard.press('z')
  await page.waitForSelector('.undo', { state: 'detached' })
  equal((await s.ask('GET', '/inbox/' + id)).waits, true)
  await page.keyboard.press('a')
  await page.waitForSelector('.undo')
  await until('the approval', async () => !(await s.ask('GET', '/inbox/' + id)).waits, 20000)
  const approval = await s.ask('GET', '/approvals/' + id)
  equal([approval.status, approval.decided_by, approval.channel], ['approved', 'ann', 'page'])
  await page.waitForFunction(() => /approved by ann/.test(document.body.innerText))
  equal((await s.ask('GET', '/inbox?kind=approval')).entries.length, before - 1)
  equal(seen.wrong, [])
  await context.close()
})

test('who leaves the page has decided', async (browser, s) => {
  const e = await s.ask('POST', '/executions', { workflow: 'fix-issue', input: { issue: 'left' } })
  await s.ask('POST', '/executions/' + e.execution_id + '/steps/plan/report', { outputs: { plan: 'a short one' } })
  const entry = await until('an entry', async () => (await s.ask('GET', '/inbox?kind=approval')).entries.find((x: any) => x.who.execution_id === e.execution_id))
  const { page, context } = await open(browser, s, ['--as', 'leaver'])
  await go(page, 'inbox/' + entry.id)
  await page.keyboard.press('w')
  await page.waitForSelector('.undo')
  await page.goto('about:blank')
  await until('the decision', async () => (await s.ask('GET', '/approvals/' + entry.id)).status === 'rework', 4000)
  equal((await s.ask('GET', '/approvals/' + entry.id)).decided_by, 'leaver')
  await context.close()
})

test('of two who decide at once one wins, and the other is told', async (browser, s) => {
  const e = await s.ask('POST', '/executions', { workflow: 'fix-issue', input: { issue: 'two' } })
  await s.ask('POST', '/executions/' + e.execution_id + '/steps/plan/report', { outputs: { plan: 'a plan' } })
  const entry = await until('an entry', async () => (await s.ask('GET', '/inbox?kind=approval')).entries.find((x: any) => x.who.execution_id === e.execution_id))
  const [ann, bob] = [await open(browser, s, ['--as', 'ann']), await open(browser, s, ['--as', 'bob'])]
  for (const { page } of [ann, bob]) await go(page, 'inbox/' + entry.id)
  await ann.page.keyboard.press('a')
  await bob.page.keyboard.press('r')
  const status = (await until('the decision', async () => { const x = await s.ask('GET', '/approvals/' + entry.id); return x.status !== 'waiting' && x }, 20000)) as any
  const [winner, loser] = status.decided_by === 'ann' ? [ann, bob] : [bob, ann]
  equal(status.status, status.decided_by === 'ann' ? 'approved' : 'rejected')
  for (const { page } of [winner, loser]) await page.waitForFunction((w: string) => document.body.innerText.includes(w), status.status + ' by ' + status.decided_by)
  await loser.page.waitForSelector('.undo', { state: 'detached' })
  await ann.context.close()
  await bob.context.close()
})

test('a state goes back to what it was, by keys alone', async (browser, s) => {
  const { page, seen, context } = await open(browser, s, ['--as', 'ann'])
  const state = await s.ask('POST', '/workflow-states', { schema_name: 'notes', name: 'back', initial_data: { list: ['first'] } })
  await s.ask('PATCH', '/workflow-states/' + state.state_id, { operations: [{ op: 'add', path: '/list/-', value: 'second' }] })
  await go(page, 'state/' + state.state_id)
  await page.waitForSelector('input[type=range]')
  await page.focus('input[type=range]')
  await page.keyboard.press('Home')
  await page.waitForFunction(() => /Revert to version 1/.test(document.body.innerText))
  for (let i = 0; i < 20; i++) {
    await page.keyboard.press('Tab')
    if (await page.evaluate(() => /Revert to version/.test(document.activeElement!.textContent!))) break
  }
  await page.keyboard.press('Enter')
  const after = (await until('the version', async () => { const x = await s.ask('GET', '/workflow-states/' + state.state_id); return x.version === 3 && x })) as any
  equal(after.current_data, { list: ['first'] })
  // The tree is gone through by keys, too, and says who wrote a value.
  await page.focus('.tree [tabindex="0"]')
  for (const key of ['ArrowDown', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key)
  await page.waitForFunction(() => /\/list\/0/.test((document.querySelector('.detail') as HTMLElement).innerText))
  equal(seen.wrong, [])
  await context.close()
})

test('what happens while a server is gone is there when it is back, and the page says so meanwhile', async (browser, s) => {
  const { page, seen, context } = await open(browser, s)
  await go(page, 'state/hostile')
  const before = await s.ask('GET', '/workflow-states/hostile')
  await s.kill()
  await page.waitForFunction(() => /not live for/.test((document.querySelector('.live') as HTMLElement).innerText))
  has(await words(page, '.detail'), 'hostile')
  await s.start()
  await s.ask('PATCH', '/workflow-states/hostile', { operations: [{ op: 'add', path: '/list/-', value: 'while you were away' }] })
  await page.waitForFunction(() => !/not live/.test((document.querySelector('.live') as HTMLElement).innerText), null, { timeout: 30000 })
  await page.waitForFunction((v: number) => document.body.innerText.includes('Version ' + v), before.version + 1)
  has(await words(page, '.tree'), 'while you were away')
  equal(seen.wrong, [])
  await context.close()
})

test('a viewer sees and has nothing to act with', async (browser, s) => {
  const { page, seen, context } = await open(browser, s, ['--viewer'])
  for (const [name, address] of await addresses(s)) {
    await go(page, address)
    const found = await page.evaluate(() => [...document.querySelectorAll('.main button')].map((b) => b.textContent).filter((t) => /Stop|Approve|Reject|Revert|Cancel|Pause|Try again|Write to|Revoke|Deny|Allow/.test(t || '')))
    equal(found, [], name)
    equal(await page.evaluate(() => document.querySelectorAll('.problem[role=alert]').length), (await page.evaluate(() => /inbox-none/.test(location.hash))) ? 1 : await page.evaluate(() => document.querySelectorAll('.detail .problem[role=alert]').length), name)
  }
  equal(seen.wrong, [])
  await context.close()
})

test('a token that is revoked ends the page at once', async (browser, s) => {
  const { page, context } = await open(browser, s, ['--as', 'short'])
  const token = (await s.ask('GET', '/tokens?limit=500')).tokens.find((t: any) => t.name === 'short' && t.scope.page)
  equal(token.kind, 'operator')
  await s.ask('DELETE', '/tokens/' + token.token_id)
  await page.waitForSelector('.plain [role=alert]')
  has(await words(page), 'not valid any more')
  equal(await page.evaluate(() => localStorage.getItem('baton.who')), null)
  await context.close()
})

test('who signs out leaves no token behind, and no cookie was ever set', async (browser, s) => {
  const { page, context } = await open(browser, s, ['--as', 'leaving'])
  equal(await context.cookies(), [])
  await page.click('text=Sign out')
  await page.waitForSelector('.plain')
  await until('the token to be revoked', async () => (await s.ask('GET', '/tokens?limit=500')).tokens.some((t: any) => t.name === 'leaving' && t.scope.page && t.revoked_at))
  await context.close()
})

test('a window beside another one signs in anew, and both go on', async (browser, s) => {
  const { page, seen, context } = await open(browser, s, ['--as', 'first'])
  const second = await context.newPage()
  await second.goto(s.baton('open', '--print', '--as', 'second'))
  for (const p of [page, second]) {
    await p.waitForFunction(() => document.querySelector('.person')?.textContent === 'second')
    await p.waitForFunction(() => document.querySelector('.live')!.textContent!.includes('live'))
  }
  await until('the end of the first token', async () => (await s.ask('GET', '/tokens?limit=500')).tokens.some((t: any) => t.name === 'first' && t.scope.page && t.revoked_at))
  await go(page, 'events')
  await page.waitForSelector('.row')
  equal(await page.evaluate(() => document.querySelector('.person')!.textContent), 'second')
  equal(seen.wrong, [])
  await context.close()
})

test('search finds a session by its words and opens it', async (browser, s) => {
  const { page, context } = await open(browser, s)
  await page.keyboard.press('/')
  await page.keyboard.type('docs failed')
  await page.keyboard.press('Backspace')
  await page.fill('dialog input', 'docs-')
  await page.waitForFunction(() => document.querySelectorAll('.found li').length === 1)
  await clean(page, 'search')
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => location.hash.startsWith('#/sessions/docs-'))
  await context.close()
})

async function main(): Promise<void> {
  const s = new Server(process.env.BATON)
  let failed = 0
  let passed = 0
  await s.start()
  const browser = await start()
  try {
    await fill(s)
    for (const [name, run] of tests) {
      if (only && !name.includes(only)) continue
      try {
        await run(browser, s)
        passed++
        console.log('pass ' + name)
      } catch (e) {
        failed++
        console.log('FAIL ' + name + '\n     ' + (e as Error).stack)
      }
    }
  } finally {
    await browser.close()
    await s.end()
  }
  console.log(passed + ' passed, ' + failed + ' failed')
  process.exit(failed ? 1 : 0)
}

void main()
