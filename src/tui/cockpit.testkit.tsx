import { EventEmitter } from 'node:events'
import { render } from 'ink'
import examples from '../api/answer-examples.json' with { type: 'json' }
import type { WireEvent } from '../api/index.ts'
import type { Callable } from '../client/asked.ts'
import { type Opens, passedOn, readAnswer, type Words } from '../client/call.ts'
import { BadAnswer } from '../client/check.ts'
import type { Link, LinkClock, Outcome, Place, Problem } from '../client/link.ts'
import type { ScreenId } from '../nouns/screens.ts'
import { Cockpit } from './cockpit.tsx'
import { createHost, type HostOptions } from './host.ts'
import { createPainter, type Painter } from './painter.ts'
import { type Line, sized } from './parts/line.ts'
import { withoutMouse } from './parts/mouse.ts'
import type { Look } from './parts/theme.ts'
import { loadScreen, screens } from './screens.ts'
import type { Host } from './shell/screen.ts'

/* A terminal of an exact size, a clock that stands until it is moved, and an instance that answers what a test says. */

export const NOW = Date.parse('2026-11-21T14:03:07.000Z')
/** Minutes: on a busy machine what comes may take long. */
const TRIES_MAX = 60_000
const TRY_MS = 5
const TURNS = 10
/** What is drawn anew every second sets its next timer as it is drawn. */
const STEP_MS = 1_000

export type FakeClock = LinkClock & { readonly advance: (ms: number) => void }

export function fakeClock(start = NOW): FakeClock {
  let now = start
  const alarms = new Set<{ at: number; run: () => void }>()
  return {
    now: () => now,
    later(ms, run) {
      const alarm = { at: now + ms, run }
      alarms.add(alarm)
      return () => void alarms.delete(alarm)
    },
    advance(ms) {
      const end = now + ms
      for (;;) {
        const [next] = [...alarms].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
        if (!next) break
        alarms.delete(next)
        now = next.at
        next.run()
      }
      now = end
    },
  }
}

export const gone: Problem = {
  kind: 'gone',
  sentence: 'The local daemon is not running.',
  facts: ['last stop was 5s ago, cleanly'],
  next: ['souk up'],
}

/** What the cockpit sent. */
export type LinkCall = Words & { readonly opens: Opens }

type Answer = unknown | Problem | ((call: LinkCall) => Outcome<unknown> | Promise<Outcome<unknown>>)

export type FakeLink = Link & {
  readonly calls: LinkCall[]
  /** Bodies by `METHOD /path`; a function answers anew each time. */
  readonly answers: Record<string, Answer>
  /** Every call fails with it while it is set. */
  broken: Problem | undefined
  admin: boolean
  /** Participant whose API key is in use. */
  me: string | undefined
  /** Participants by the wallets of this machine. */
  readonly wallets: Map<string, string>
  /** Sends text down the open event stream. */
  readonly tell: (text: string) => void
  /** Breaks the open event stream. */
  readonly cut: () => void
  readonly cursors: (number | undefined)[]
}

const nobody: Problem = {
  kind: 'denied',
  sentence: 'There is no active wallet.',
  facts: [],
  next: ['souk wallet new main'],
}
const absent: Problem = { kind: 'absent', sentence: 'There is no such row.', facts: [], next: [] }

export function fakeLink(
  answers: Record<string, Answer> = {},
  place: Place = { name: 'local', guarded: false, option: '' },
): FakeLink {
  let stream: { push: (text: string | undefined) => void } | undefined
  const link: FakeLink = {
    place,
    answers,
    calls: [],
    cursors: [],
    broken: undefined,
    admin: true,
    me: undefined,
    wallets: new Map(),
    async heldBy(wallet) {
      const id = link.wallets.get(wallet)
      return id === undefined ? { ok: false, problem: nobody } : { ok: true, value: { wallet, id } }
    },
    self: async () => (link.me === undefined ? { ok: false, problem: nobody } : { ok: true, value: link.me }),
    whereabouts: async () =>
      link.broken
        ? { ok: false, problem: link.broken }
        : { ok: true, value: { url: 'http://127.0.0.1:4020', admin: link.admin, startedAt: NOW - 274_000_000 } },
    async call(name, asked) {
      const call = passedOn(name, asked)
      link.calls.push(call)
      if (link.broken) return { ok: false, problem: link.broken }
      const answer = answers[`${call.method} ${call.path}`]
      if (answer === undefined) return { ok: false, problem: absent }
      const found: Outcome<unknown> =
        typeof answer === 'function' ? await answer(call) : { ok: true, value: whole(name, answer) }
      return found.ok ? readAnswer(name, found.value).then((value) => ({ ok: true, value }), odd) : found
    },
    async events(cursor, signal) {
      link.cursors.push(cursor)
      if (link.broken) return { ok: false, problem: link.broken }
      const waiting = Promise.withResolvers<string | undefined>()
      const queue = [waiting]
      stream = {
        push(text) {
          queue.at(-1)?.resolve(text)
          queue.push(Promise.withResolvers())
        },
      }
      signal.addEventListener('abort', () => stream?.push(undefined))
      return { ok: true, value: texts(queue) }
    },
    tell: (text) => stream?.push(text),
    cut: () => stream?.push(undefined),
  }
  return link
}

/** What a test does not say of an answer is as the contract's example has it. */
function whole(name: Callable, told: unknown): unknown {
  const example = Object.entries<{ readonly answer?: unknown }>(examples).find(([one]) => one === name)?.[1].answer
  return isObject(told) && isObject(example) ? { ...example, ...told } : told
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** As the link tells of an answer that cannot be read. */
function odd(error: unknown): { readonly ok: false; readonly problem: Problem } {
  if (!(error instanceof BadAnswer)) throw error
  const { message: sentence, path, must } = error
  return { ok: false, problem: { kind: 'failed', sentence, facts: [`${path} ${must}`], next: ['souk status'] } }
}

async function* texts(queue: { promise: Promise<string | undefined> }[]): AsyncGenerator<string> {
  for (let at = 0; ; at += 1) {
    const text = await queue[at]?.promise
    if (text === undefined) return
    yield text
  }
}

/** One event as the instance streams it. */
export function sse(
  cursor: number,
  type: string,
  { subject = 'job_1', about }: { subject?: string; about?: WireEvent<'streamEvents'>['about'] } = {},
): string {
  const id = `evt_${String(cursor).padStart(16, '0')}`
  const data = {
    id,
    event_id: id,
    cursor,
    at: new Date(NOW).toISOString(),
    type,
    participant_id: null,
    subject: { kind: 'job', id: subject },
    data: {},
    ...(about === undefined ? {} : { about }),
  } satisfies WireEvent<'streamEvents'>
  return `id: ${cursor}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`
}

export type Opened = {
  readonly host: Host
  readonly clock: FakeClock
  readonly link: FakeLink
  /** Rows of the terminal as they stand. */
  readonly rows: () => string[]
  readonly text: () => string
  /** The same rows with what their pieces mean; of the cockpit's own painter alone. */
  readonly lines: () => readonly Line[]
  /** Types: the whole text arrives as one piece. */
  readonly type: (text: string) => Promise<void>
  readonly resize: (columns: number, rows: number) => Promise<void>
  /** Moves the clock and lets everything that follows happen. */
  readonly advance: (ms: number) => Promise<void>
  /** An event comes down the stream. */
  readonly tell: (text: string) => Promise<void>
  readonly until: (done: () => boolean) => Promise<void>
  readonly exited: () => boolean
  /** What went to the clipboard. */
  readonly copied: readonly string[]
  readonly close: () => void
}

export type OpenOptions = {
  readonly columns?: number
  readonly rows?: number
  readonly screen?: ScreenId
  readonly readonly?: boolean
  readonly ascii?: boolean
  readonly mouse?: boolean
  readonly snapshot?: Host['snapshot']
  readonly lastWords?: Host['lastWords']
  readonly commandLine?: Host['commandLine']
  /** Who writes the rows; the cockpit's own painter unless told. */
  readonly painter?: 'ink'
  readonly keys?: Host['keys']
  readonly elsewhere?: Host['elsewhere']
  readonly save?: Host['save']
  readonly programs?: Host['programs']
  readonly reload?: HostOptions['reload']
  readonly edit?: Host['edit']
  readonly putOffFile?: HostOptions['putOffFile']
  readonly keptViews?: HostOptions['keptViews']
  readonly notice?: string
  /** When it is opened, epoch milliseconds. */
  readonly now?: number
  readonly link: FakeLink
}

/** Opens a cockpit on a terminal of its own and lets the first answers arrive. */
export async function openOn(options: OpenOptions): Promise<Opened> {
  const stdout = fakeStdout(options.columns ?? 80, options.rows ?? 24)
  const stdin = fakeStdin()
  const clock = fakeClock(options.now)
  const { link, screen = 'overview', readonly = false, snapshot, commandLine } = options
  for (const { id } of screens) await loadScreen(id)
  const copied: string[] = []
  const copy = (text: string) => copied.push(text)
  const own = { clock, screen, readonly, refreshMs: 2_000, frameGapMs: 0, copy, snapshot, commandLine }
  const host = createHost({ ...options, ...own })
  const look = lookOf(options)
  let hasExited = false
  const painted = paintedRows()
  const painter = options.painter === 'ink' ? undefined : seenPainter(createPainter({ look, write: painted.write }))
  const frame = () => (painter === undefined ? stdout.frame() : painted.rows(stdout.rows).join('\n'))
  // What Ink uses of streams.
  const read = stdin as unknown as NodeJS.ReadStream
  const heard = options.mouse
    ? withoutMouse(read, { later: clock.later, point: (one) => host.point.current(one) })
    : read
  // And of this one.
  const streams = { stdout: stdout as unknown as NodeJS.WriteStream, stdin: heard }
  const cockpit = <Cockpit {...{ host, look, painter }} onSuspend={() => undefined} reportMouse={() => undefined} />
  const app = render(cockpit, { ...streams, ...inkOptions })
  void app.waitUntilExit().then(() => {
    hasExited = true
  })
  host.stream.start()
  await settle()
  return {
    host,
    clock,
    link,
    rows: () => frame().split('\n'),
    text: frame,
    lines: () => painter?.lines() ?? [],
    async type(text) {
      stdin.send(text)
      await settle()
    },
    async resize(columns, rows) {
      stdout.resize(columns, rows)
      await settle()
    },
    async advance(ms) {
      for (let left = ms; left > 0; left -= STEP_MS) {
        clock.advance(Math.min(left, STEP_MS))
        await settle()
      }
    },
    async tell(text) {
      link.tell(text)
      await settle()
    },
    async until(done) {
      for (let tries = 0; !done(); tries += 1) {
        if (tries > TRIES_MAX) throw new Error(`it did not come to that:\n${frame()}`)
        await new Promise((resolve) => setTimeout(resolve, TRY_MS))
      }
    },
    exited: () => hasExited,
    copied,
    close() {
      host.stream.stop()
      app.unmount()
    },
  }
}

/** Remembers what it was last given to show. */
function seenPainter({ show, ...others }: Painter): Painter & { readonly lines: () => readonly Line[] } {
  let last: readonly Line[] = []
  return {
    ...others,
    lines: () => last,
    show(lines, size) {
      last = lines.map((line) => sized(line, size.columns))
      show(lines, size)
    },
  }
}

const inkOptions = { debug: true, interactive: true, exitOnCtrlC: false, patchConsole: false } as const

function lookOf({ ascii = false }: OpenOptions): Look {
  return { palette: undefined, theme: 'dark', depth: '256', ascii }
}

/** Lets promises, effects and renders that wait for each other all happen. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: what stands before something that is written
const PLACE = /\u001B\[(\d+);(\d+)H(\u001B\[2K)?/
// biome-ignore lint/suspicious/noControlCharactersInRegex: what stands around a frame
const AROUND = /\u001B\[(?:\?2026[hl]|H)/g

/** What a terminal shows of what the painter writes: what stands there stands until something is written over it. */
export function paintedRows() {
  const rows = new Map<number, string>()
  return {
    write(text: string) {
      const parts = text.replace(AROUND, '').split(PLACE)
      for (let i = 1; i < parts.length; i += 4) {
        const [row, column, erased, written = ''] = [Number(parts[i]), Number(parts[i + 1]), parts[i + 2], parts[i + 3]]
        const before = erased === undefined ? (rows.get(row - 1) ?? '') : ''
        const behind = before.slice(column - 1 + written.length)
        rows.set(row - 1, before.slice(0, column - 1).padEnd(column - 1) + written + behind)
      }
    },
    rows: (height: number) => Array.from({ length: height }, (_, i) => rows.get(i) ?? ''),
  }
}

function fakeStdout(columns: number, rows: number) {
  let frame = ''
  const stdout = Object.assign(new EventEmitter(), {
    columns,
    rows,
    isTTY: true,
    write(chunk: string, ...rest: unknown[]) {
      // Single control sequences (cursor, paste mode) are no frames.
      if (chunk.includes('\n')) frame = chunk
      const done = rest.find((one) => typeof one === 'function')
      if (done) (done as () => void)()
      return true
    },
    frame: () => frame,
    resize(toColumns: number, toRows: number) {
      stdout.columns = toColumns
      stdout.rows = toRows
      stdout.emit('resize')
    },
  })
  return stdout
}

function fakeStdin() {
  let waiting: string | null = null
  const stdin = Object.assign(new EventEmitter(), {
    isTTY: true,
    setRawMode: () => stdin,
    setEncoding: () => stdin,
    ref: () => stdin,
    unref: () => stdin,
    read() {
      const text = waiting
      waiting = null
      return text
    },
    send(text: string) {
      waiting = text
      stdin.emit('readable')
    },
  })
  return stdin
}
