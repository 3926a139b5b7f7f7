// check.ts: tests that node runs: each is named by what it promises.
export function test(name: string, run: () => void): void {
  try {
    run()
    console.log('pass ' + name)
  } catch (e) {
    console.log('FAIL ' + name + '\n     ' + ((e as Error).stack || e))
    process.exitCode = 1
  }
}

export function check(found: unknown, expected: unknown): void {
  const [f, x] = [JSON.stringify(found), JSON.stringify(expected)]
  if (f !== x) throw new Error('expected ' + x + ', found ' + f)
}
