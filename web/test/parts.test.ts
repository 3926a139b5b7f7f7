// parts.test.ts: what is computed for views: differences, schemas, texts.
import { barsOf, Step } from '../parts/bars'
import { pairs } from '../parts/diff'
import { ago, command, shell, took, visible } from '../format'
import { check, test } from './check'

test('a difference is the shortest, and each side is whole', () => {
  let seed = 7
  const random = (n: number): number => ((seed = (seed * 1103515245 + 12345) % 2147483648), Math.floor((seed / 2147483648) * n))
  for (let round = 0; round < 500; round++) {
    const text = (): string[] => Array.from({ length: random(12) }, () => 'abc'[random(3)])
    const a = text()
    const b = text()
    const all = pairs(a, b)
    check(all.filter((p) => p.left !== null).map((p) => p.left), a)
    check(all.filter((p) => p.right !== null).map((p) => p.right), b)
    check(all.every((p) => !p.same || p.left === p.right), true)
    // As many lines stay as the longest that both have in common.
    const common: number[][] = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0))
    for (let i = a.length - 1; i >= 0; i--)
      for (let j = b.length - 1; j >= 0; j--) common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1])
    check(all.filter((p) => p.same).length, common[0][0])
  }
})

test('what would hide or turn a text is shown', () => {
  check(visible('a\u202eb\u0000c\u200bd\ne\tf'), 'a⌶202eb⌶0000c⌶200bd\ne\tf')
})

test('a command can be pasted into a shell', () => {
  check(command('state', 'read', "it's", '--pointer', '/a b', '$(rm)'), "baton state read 'it'\\''s' --pointer '/a b' '$(rm)'")
  check(shell(''), "''")
})

test('times are short', () => {
  check([ago(59000), ago(61000), ago(47 * 3600000), ago(72 * 3600000), took(90000), took(12)], ['59s', '1m', '47h', '3d', '1m 30s', '12ms'])
})

test('a timeline shows when the attempt that is at work began', () => {
  const time = (s: number): string => new Date(s * 1000).toISOString()
  const step: Step = { step: 'a', title: null, status: 'in_progress', after: [], attempt: 2, started_at: time(0), attempt_started_at: time(90), ended_at: null, waits_for: null,
    history: [{ attempt: 1, outcome: 'failed', started_at: time(0), ended_at: time(30) }] }
  const token = { token: 't', node: 'a', step: 'a', status: 'work', waits_for: 'worker van 3 with attempt 2', since: time(90) }
  const bars = (s: Partial<Step>, t: object): unknown[] => barsOf({ ...step, ...s }, [{ ...token, ...t }], [], [], 100000).map((b) => [b.kind, b.from / 1000, b.to / 1000])
  check(bars({}, {}), [['failed', 0, 30], ['machine', 30, 90], ['work', 90, 100]])
  check(bars({ attempt_started_at: null }, { waits_for: 'a worker for jobs of type a' }), [['failed', 0, 30], ['machine', 30, 100]])
  check(bars({ attempt_started_at: null }, { status: 'backoff' }), [['failed', 0, 30], ['machine', 30, 100]])
  // Begun anew by a person: what was between is nobody's.
  check(bars({ started_at: time(60) }, {}), [['failed', 0, 30], ['machine', 60, 90], ['work', 90, 100]])
  // Items of a list are at work beside each other.
  check(bars({}, { item: 1 }), [['failed', 0, 30], ['work', 30, 100]])
})
