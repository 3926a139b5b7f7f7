// shots.ts: pictures of every view, in every look: shots.ts FOLDER [NAME].
import { addresses, go, LOOKS, open, start } from './browser'
import { fill, Server } from './server'

const { mkdirSync } = require('node:fs')

async function main(): Promise<void> {
  const folder = process.argv[2]
  const only = process.argv[3] || ''
  mkdirSync(folder, { recursive: true })
  const s = new Server(process.env.BATON)
  await s.start()
  const browser = await start()
  try {
    await fill(s)
    for (const [look, options] of LOOKS) {
      const { page, context } = await open(browser, s, ['--as', 'ann'], options)
      for (const [name, address] of await addresses(s)) {
        if (only && !name.includes(only)) continue
        await go(page, address)
        await page.screenshot({ path: folder + '/' + name + '-' + look + '.png' })
      }
      await context.close()
    }
  } finally {
    await browser.close()
    await s.end()
  }
}

void main()
