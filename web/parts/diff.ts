// diff.ts: two texts beside each other, line by line.
import { h } from '../core/dom'
import { visible } from '../format'

export interface Pair {
  left: string | null // null: there is no such line on this side
  right: string | null
  same: boolean
}

const EDITS_MAX = 2000

// The shortest way from one to the other (Myers), as far as that is short; else all is new.
export function pairs(a: string[], b: string[]): Pair[] {
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  const same = (line: string): Pair => ({ left: line, right: line, same: true })
  const middle = between(a.slice(head, a.length - tail), b.slice(head, b.length - tail))
  return [...a.slice(0, head).map(same), ...middle, ...a.slice(a.length - tail).map(same)]
}

function between(a: string[], b: string[]): Pair[] {
  const n = a.length
  const m = b.length
  const most = Math.min(n + m, EDITS_MAX)
  const offset = most + 1
  let v = new Int32Array(2 * offset + 1)
  const trace: Int32Array[] = []
  let found = -1
  for (let d = 0; d <= most && found < 0; d++) {
    trace.push(v.slice())
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && v[offset + k - 1] < v[offset + k + 1])
      let x = down ? v[offset + k + 1] : v[offset + k - 1] + 1
      let y = x - k
      while (x < n && y < m && a[x] === b[y]) x++, y++
      v[offset + k] = x
      if (x >= n && y >= m) {
        found = d
        break
      }
    }
  }
  if (found < 0) return beside(a, b)
  const out: Pair[] = []
  let x = n
  let y = m
  for (let d = found; d > 0; d--) {
    const before = trace[d]
    const k = x - y
    const down = k === -d || (k !== d && before[offset + k - 1] < before[offset + k + 1])
    const px = before[offset + (down ? k + 1 : k - 1)]
    const py = px - (down ? k + 1 : k - 1)
    while (x > px && y > py && x > 0 && y > 0 && a[x - 1] === b[y - 1]) out.push({ left: a[--x], right: b[--y], same: true })
    if (down) out.push({ left: null, right: b[--y], same: false })
    else out.push({ left: a[--x], right: null, same: false })
  }
  while (x > 0 && y > 0) out.push({ left: a[--x], right: b[--y], same: true })
  return align(out.reverse())
}

// What is gone and what came in its place stand beside each other.
function align(all: Pair[]): Pair[] {
  const out: Pair[] = []
  for (let i = 0; i < all.length; ) {
    if (all[i].same) {
      out.push(all[i++])
      continue
    }
    const gone: string[] = []
    const come: string[] = []
    for (; i < all.length && !all[i].same; i++) {
      if (all[i].left !== null) gone.push(all[i].left!)
      else come.push(all[i].right!)
    }
    out.push(...beside(gone, come))
  }
  return out
}

function beside(gone: string[], come: string[]): Pair[] {
  const out: Pair[] = []
  for (let i = 0; i < Math.max(gone.length, come.length); i++)
    out.push({ left: i < gone.length ? gone[i] : null, right: i < come.length ? come[i] : null, same: false })
  return out
}

const AROUND = 3 // lines that are shown around what has changed
const LINES_MAX = 2000 // that are shown at all

export function diff(left: string, right: string, leftName: string, rightName: string): HTMLElement {
  const all = pairs(left.split('\n'), right.split('\n'))
  const near = new Uint8Array(all.length)
  all.forEach((p, i) => {
    if (!p.same) for (let k = Math.max(0, i - AROUND); k <= Math.min(all.length - 1, i + AROUND); k++) near[k] = 1
  })
  const el = h('div', { class: 'diff', role: 'group', 'aria-label': leftName + ' beside ' + rightName }, h('div', { class: 'head' }, leftName), h('div', { class: 'head' }, rightName))
  let skipped = 0
  let shown = 0
  const skip = (): void => {
    if (skipped) el.append(h('div', { class: 'skip-lines' }, skipped === 1 ? 'one line that is the same' : skipped + ' lines that are the same'))
    skipped = 0
  }
  for (let i = 0; i < all.length && shown < LINES_MAX; i++) {
    if (!near[i]) {
      skipped++
      continue
    }
    skip()
    const p = all[i]
    const side = (line: string | null, change: string, word: string): HTMLElement =>
      h('div', { class: p.same || line === null ? undefined : change }, p.same || line === null ? null : h('span', { class: 'hidden' }, word), line === null ? '' : visible(line))
    el.append(side(p.left, 'removed', 'removed: '), side(p.right, 'added', 'added: '))
    shown++
  }
  skip()
  if (shown === LINES_MAX) el.append(h('div', { class: 'skip-lines' }, 'more has changed than is shown'))
  return el
}
