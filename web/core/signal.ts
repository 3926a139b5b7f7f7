// signal.ts: values that know who depends on them.
//
// A signal holds a value; a memo is computed from others, when somebody asks; an effect runs again
// when what it has read has changed. What is made while an effect runs belongs to it, and goes when
// it runs again or its owner goes. Changes within one batch are seen together, and nobody sees some of
// them without the others.

const CLEAN = 0
const CHECK = 1 // something further up has changed
const DIRTY = 2

type State = 0 | 1 | 2

export class Cell<T = unknown> {
  value: T
  state: State
  readonly make: (() => T) | null
  readonly acts: boolean // an effect: it runs by itself
  sources = new Set<Cell>()
  readers = new Set<Cell>()
  owned: Cell[] = []
  cleanups: (() => void)[] = []
  gone = false

  constructor(value: T, make: (() => T) | null, acts: boolean) {
    this.value = value
    this.make = make
    this.acts = acts
    this.state = make ? DIRTY : CLEAN
  }
}

export interface Read<T> {
  (): T
}
export interface Signal<T> extends Read<T> {
  set(value: T): void
  peek(): T
}

let reader: Cell | null = null // who reads now
let owner: Cell | null = null // to whom belongs what is made now
let depth = 0 // of batches
let queue: Cell[] = []

function mark(cell: Cell, state: State): void {
  for (const r of cell.readers) {
    if (r.state >= state) continue
    const was = r.state
    r.state = state
    if (was === CLEAN) {
      if (r.acts) queue.push(r)
      mark(r, CHECK)
    }
  }
}

function release(cell: Cell): void {
  for (const o of cell.owned) dispose(o)
  cell.owned = []
  const cleanups = cell.cleanups
  cell.cleanups = []
  for (const c of cleanups) c()
}

function dispose(cell: Cell): void {
  cell.gone = true
  release(cell)
  for (const s of cell.sources) s.readers.delete(cell)
  cell.sources.clear()
}

function run(cell: Cell): void {
  release(cell)
  for (const s of cell.sources) s.readers.delete(cell)
  cell.sources.clear()
  const outerReader = reader
  const outerOwner = owner
  reader = cell
  owner = cell
  cell.state = CLEAN
  try {
    const value = cell.make!()
    if (cell.value !== value) {
      cell.value = value
      for (const r of cell.readers) r.state = DIRTY
    }
  } finally {
    reader = outerReader
    owner = outerOwner
  }
}

// Brings a cell up to date: one that is to be checked runs only when a source has really changed.
function settle(cell: Cell): void {
  if (cell.state === CHECK) {
    for (const s of cell.sources) {
      settle(s)
      if ((cell.state as State) === DIRTY) break
    }
  }
  // While it runs it may be marked anew, which stays.
  if (cell.state === DIRTY && cell.make) run(cell)
  else cell.state = CLEAN
}

function flush(): void {
  for (let rounds = 0; queue.length; rounds++) {
    if (rounds > 100) {
      queue = []
      throw new Error('effects that change what they read')
    }
    const now = queue
    queue = []
    for (const e of now) if (!e.gone) settle(e)
  }
}

export function batch<T>(fn: () => T): T {
  depth++
  try {
    return fn()
  } finally {
    if (--depth === 0) {
      depth++ // what effects change is seen in the next round
      try {
        flush()
      } finally {
        depth--
      }
    }
  }
}

function read<T>(cell: Cell<T>): T {
  // First, so that what it becomes by that is no change to the one who reads it now.
  if (cell.state !== CLEAN) settle(cell as Cell)
  if (reader) {
    reader.sources.add(cell as Cell)
    cell.readers.add(reader)
  }
  return cell.value
}

export function signal<T>(value: T): Signal<T> {
  const cell = new Cell<T>(value, null, false)
  const s = (() => read(cell)) as Signal<T>
  s.peek = () => cell.value
  s.set = (v: T) => {
    if (v === cell.value) return
    batch(() => {
      cell.value = v
      mark(cell as Cell, DIRTY)
    })
  }
  return s
}

export function memo<T>(make: () => T): Read<T> {
  const cell = new Cell<T>(undefined as unknown as T, make, false)
  if (owner) owner.owned.push(cell as Cell)
  return () => read(cell)
}

export function effect(fn: () => void): void {
  const cell = new Cell<void>(undefined, fn, true)
  if (owner) owner.owned.push(cell as Cell)
  settle(cell as Cell)
}

// What fn makes is nobody's, and lives until the function is called that is handed to it.
export function root<T>(fn: (end: () => void) => T): T {
  const cell = new Cell<void>(undefined, null, false)
  const outerReader = reader
  const outerOwner = owner
  reader = null
  owner = cell as Cell
  try {
    return fn(() => dispose(cell as Cell))
  } finally {
    reader = outerReader
    owner = outerOwner
  }
}

export function untracked<T>(fn: () => T): T {
  const outer = reader
  reader = null
  try {
    return fn()
  } finally {
    reader = outer
  }
}

export function onEnd(fn: () => void): void {
  if (owner) owner.cleanups.push(fn)
}
