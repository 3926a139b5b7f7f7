// signal.test.ts: what signals promise, without a browser.
import { batch, effect, memo, onEnd, root, signal, untracked } from '../core/signal'
import { check, test } from './check'

test('an effect runs again when what it has read has changed, and only then', () => {
  const a = signal(1)
  const b = signal(10)
  const which = signal(true)
  const seen: number[] = []
  effect(() => void seen.push(which() ? a() : b()))
  a.set(2)
  a.set(2)
  b.set(11)
  which.set(false)
  a.set(3)
  b.set(12)
  check(seen, [1, 2, 11, 12])
})

test('nobody sees one change without the others of its batch', () => {
  const a = signal(1)
  const b = signal(1)
  const sums: number[] = []
  const sum = memo(() => a() + b())
  effect(() => void sums.push(sum()))
  batch(() => (a.set(2), b.set(2), a.set(5), b.set(5)))
  check(sums, [2, 10])
})

test('what is computed is computed once, and a value that stays as it was moves nobody', () => {
  const a = signal(1)
  let made = 0
  let ran = 0
  const odd = memo(() => (made++, a() % 2 === 1))
  const text = memo(() => (odd() ? 'odd' : 'even'))
  effect(() => (text(), odd(), ran++, undefined))
  a.set(3)
  a.set(5)
  check([made, ran], [3, 1])
  a.set(6)
  check([made, ran], [4, 2])
})

test('four ways to the same value are one change', () => {
  const a = signal(1)
  const left = memo(() => a() + 1)
  const right = memo(() => a() * 2)
  const seen: string[] = []
  effect(() => void seen.push(left() + '/' + right()))
  a.set(2)
  a.set(3)
  check(seen, ['2/2', '3/4', '4/6'])
})

test('an effect that changes what it has read runs again', () => {
  const place = signal('')
  const shown = memo(() => (place() ? { name: place() } : null))
  const seen: string[] = []
  effect(() => {
    const v = shown()
    if (!v) place.set('first')
    else seen.push(v.name)
  })
  place.set('second')
  check(seen, ['first', 'second'])
})

test('effects that chase each other are ended, and the rest goes on', () => {
  const n = signal(0)
  let failed = ''
  try {
    effect(() => n.set(n() + 1))
    n.set(-5)
  } catch (e) {
    failed = (e as Error).message
  }
  check(failed, 'effects that change what they read')
  const other = signal(1)
  let seen = 0
  effect(() => void (seen = other()))
  other.set(2)
  check(seen, 2)
})

test('what an effect has made goes when it runs again', () => {
  const outer = signal(1)
  const inner = signal(1)
  let ran = 0
  let ended = 0
  effect(() => {
    outer()
    effect(() => (inner(), ran++, undefined))
    onEnd(() => ended++)
  })
  outer.set(2)
  inner.set(2)
  check([ran, ended], [3, 1])
})

test('what a root has made lives until it is ended', () => {
  const a = signal(1)
  let ran = 0
  let ended = 0
  const end = root((e) => {
    effect(() => (a(), ran++, undefined))
    onEnd(() => ended++)
    return e
  })
  a.set(2)
  end()
  a.set(3)
  check([ran, ended], [2, 1])
})

test('what is read untracked is not waited for', () => {
  const a = signal(1)
  let ran = 0
  effect(() => (untracked(a), ran++, undefined))
  a.set(2)
  check(ran, 1)
})

test('random graphs show what they would if all were computed anew', () => {
  let seed = Number(process.env.BATON_SEED || 1)
  const random = (n: number): number => ((seed = (seed * 1103515245 + 12345) % 2147483648), Math.floor((seed / 2147483648) * n))
  for (let round = 0; round < 200; round++) {
    const sources = [0, 1, 2, 3].map((i) => signal(i))
    const all: (() => number)[] = [...sources]
    const plain: (() => number)[] = sources.map((s) => s.peek)
    for (let i = 0; i < 12; i++) {
      const [x, y, z] = [random(all.length), random(all.length), random(all.length)]
      // Which of them is read depends on what they are.
      all.push(memo(() => (all[x]() % 3 ? all[y]() + 1 : all[z]() * 2) % 97))
      plain.push(() => (plain[x]() % 3 ? plain[y]() + 1 : plain[z]() * 2) % 97)
    }
    const last = all.length - 1
    let seen = -1
    let ran = 0
    effect(() => (ran++, void (seen = all[last]())))
    for (let k = 0; k < 20; k++) {
      const before = seen
      const runs = ran
      batch(() => {
        for (let c = random(3); c >= 0; c--) sources[random(4)].set(random(50))
      })
      check(seen, plain[last]())
      check(ran - runs, seen === before ? 0 : 1)
    }
  }
})
