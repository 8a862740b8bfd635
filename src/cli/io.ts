import { shortPath } from '../client/settings.ts'
import { clip, inAscii, jsonText, type PaletteName, printable, unbroken, withoutMarks } from '../text/text.ts'
import { type TimeStyle, withShortTimes } from '../text/time.ts'
import type { System } from './env.ts'
import { CliError, usage } from './exit.ts'
import { hintOf } from './hints.ts'

const DEFAULT_COLUMNS = 80
/** A spinner is shown only for work that takes longer than this. */
const SPINNER_DELAY_MS = 200
/** Interval of progress lines without a terminal. */
const WAITING_LINE_MS = 10_000
const STDIN_BYTES_MAX = 16 * 1024 * 1024

export type ColorChoice = 'auto' | 'always' | 'never'
/** `human` is for people; the other formats contain data only. */
export type Format = 'human' | 'json' | 'ndjson' | 'tsv'

export type IoSettings = {
  readonly format: Format
  readonly color: ColorChoice
  readonly palette: PaletteName
  /** ASCII signs only. */
  readonly ascii: boolean
  readonly quiet: boolean
  readonly verbose: boolean
  /** `http` shows requests with their bodies. `everything` (plain `--debug`) shows no bodies, but stack traces. */
  readonly debug: 'nothing' | 'http' | 'everything'
  /** Style of times on a terminal. In a pipe, times are always shown in full. */
  readonly times: TimeStyle
  /** Confirmations are answered with yes, without asking. */
  readonly yes: boolean
  /** The program may ask questions if there is a terminal. */
  readonly ask: boolean
  /** Long output goes through the pager. */
  readonly pager: boolean
}

export const plainSettings: IoSettings = {
  format: 'human',
  color: 'auto',
  palette: 'default',
  ascii: false,
  quiet: false,
  verbose: false,
  debug: 'nothing',
  times: 'iso',
  yes: false,
  ask: true,
  pager: true,
}

type Shown = {
  update(text: string): void
  /** Removes the spinner; idempotent. */
  stop(): void
}
/** A progress display. If it is declared with `using`, it stops at the end of the block. */
export type Progress = Shown & Disposable

/** The only writer of stdout and stderr. */
export type Io = {
  readonly settings: IoSettings
  readonly isTty: boolean
  /** Width of the terminal; unlimited if stdout is not a terminal. */
  readonly width: number
  readonly canAsk: boolean
  now(): number
  /** A path with the home folder as `~`. */
  path(path: string): string
  /** Text as it is displayed, with its times shortened; used to measure table columns. */
  times(text: string): string
  /** Prints a line for people on stdout. */
  line(text?: string): void
  /** JSON: compact in a pipe, indented on a terminal. */
  json(value: unknown): void
  jsonLine(value: unknown): void
  bytes(data: Uint8Array): void
  /** A note for people on stderr, only if stdout and stderr are terminals. */
  note(text: string): void
  /** A suggested command in pasteable form. */
  hint(command: string): string
  /** Prints a line on stderr, unless `--quiet`. */
  say(text: string): void
  /** Prints a line on stderr, even with `--quiet`. */
  warn(text: string): void
  /** Prints a line on stderr under `--debug`; with level `verbose`, also under `--verbose`. */
  debug(text: string, level?: 'verbose' | 'debug'): void
  progress(text: string): Progress
  /** Asks for confirmation. @throws CliError `usage` if there is no terminal; `cancelled` if the answer is no */
  confirm(question: string): Promise<void>
  /** Asks for a line; with `hidden`, does not show what is typed. @throws CliError `usage` without a terminal */
  ask(question: string, options: { hidden?: boolean; flag: string }): Promise<string>
  stdin(): Promise<string>
  /** Resolves when everything is written. @throws the error of a failed stdout */
  flush(): Promise<void>
}

export function createIo(system: System, settings: IoSettings): Io {
  const isTty = system.stdout.isTTY === true
  const palette = paletteFor(system, settings, isTty)
  const out = (text: string) => void system.stdout.write(`${printable(signsFor(text, settings, isTty), palette)}\n`)
  // Whether anything was written to stderr.
  let said = false
  const errTty = () => system.stderr.isTTY === true
  // Each call prints a single line, since the text may be untrusted.
  const err = (text: string) => {
    said = true
    writeErr(system, settings, text)
  }
  let progress: Progress | undefined // a spinner would draw over a question: it gives way
  const io: Io = {
    settings,
    isTty,
    width: isTty ? (system.stdout.columns ?? DEFAULT_COLUMNS) : Number.MAX_SAFE_INTEGER,
    get canAsk() {
      return settings.ask && errTty() && system.stdinIsTty
    },
    now: () => system.now(),
    path: (path) => shortPath(path, system.env),
    times: (text) => timesIn(text, system, settings),
    line: (text = '') => out(io.times(text)),
    json: (value) => void system.stdout.write(`${jsonText(value, isTty ? 2 : undefined)}\n`),
    jsonLine: (value) => void system.stdout.write(`${jsonText(value)}\n`),
    // Terminals interpret raw bytes, so they get text; pipes and files get the bytes unchanged.
    bytes: (data) => void system.stdout.write(isTty ? printable(withoutMarks(Buffer.from(data).toString())) : data),
    note: (text) => {
      if (isTty && errTty() && !settings.quiet && settings.format === 'human') err(text)
    },
    hint: (command) => hintOf(system, command),
    say: (text) => {
      if (!settings.quiet) err(text)
    },
    warn: err,
    debug: (text, level = 'debug') => {
      if (settings.debug !== 'nothing' || (level === 'verbose' && settings.verbose)) err(text)
    },
    progress: (text) => {
      progress = disposable(startProgress({ system, settings, say: err }, text))
      return progress
    },
    confirm: (question) => {
      progress?.stop()
      return confirm(io, system, question)
    },
    ask: (question, options) => {
      progress?.stop()
      return ask(io, system, { question, ...options })
    },
    stdin: () => readStdin(system),
    flush: () => drained(system, said),
  }
  return io
}

function writeErr(system: System, settings: IoSettings, text: string): void {
  const isTerminal = system.stderr.isTTY === true
  const line = isTerminal ? timesIn(unbroken(text), system, settings) : unbroken(text)
  const shown = signsFor(line, settings, isTerminal)
  system.stderr.write(`${printable(shown, paletteFor(system, settings, isTerminal))}\n`)
}

function timesIn(text: string, { stdout, now }: System, { format, times: style }: IoSettings): string {
  return stdout.isTTY === true && format === 'human' ? withShortTimes(text, { style, now: now() }) : text
}

/** For people at a terminal, the text in ASCII if `--ascii` is set. Data for programs is never changed. */
function signsFor(text: string, { ascii, format }: IoSettings, isTerminal: boolean): string {
  return ascii && isTerminal && format === 'human' ? inAscii(text) : text
}

function paletteFor(system: System, settings: IoSettings, isTerminal: boolean): PaletteName | undefined {
  return wantsColor(system, settings, isTerminal) ? settings.palette : undefined
}

function wantsColor({ env }: System, { color }: Pick<IoSettings, 'color'>, isTty: boolean): boolean {
  if (color !== 'auto') return color === 'always'
  if (env.CLICOLOR_FORCE && env.CLICOLOR_FORCE !== '0' && !env.NO_COLOR) return true
  return isTty && env.TERM !== 'dumb' && colorsAllowed(env)
}

/** Whether colors are allowed: any `NO_COLOR` and `CLICOLOR=0` turn them off. */
export function colorsAllowed({ NO_COLOR, CLICOLOR }: System['env']): boolean {
  return !NO_COLOR && CLICOLOR !== '0'
}

/** Waits until all output is written. Does not touch stderr if nothing was written to it. */
async function drained(system: System, said: boolean): Promise<void> {
  if (said) await new Promise<void>((resolve) => void system.stderr.write('', () => resolve()))
  await new Promise<void>((resolve, reject) => {
    system.stdout.write('', (error) => (error ? reject(Object.assign(error, { path: 'the output' })) : resolve()))
  })
}

type ProgressHost = { system: System; settings: IoSettings; say: (text: string) => void }

export const disposable = (shown: Shown): Progress => ({ ...shown, [Symbol.dispose]: shown.stop })
export const silent = disposable({ update: () => undefined, stop: () => undefined })

function startProgress(host: ProgressHost, text: string): Shown {
  const { settings, system } = host
  if (settings.quiet) return silent
  const forPeople = settings.format === 'human' && canRedraw(system.stderr) && !system.env.CI
  if (forPeople) return spinner(system, text)
  return system.stderr.isTTY === true ? silent : waitingLines(host, text)
}

/** Whether the cursor can be moved, for spinners. */
function canRedraw(stream: System['stderr']): boolean {
  return stream.isTTY === true && 'cursorTo' in stream && 'clearLine' in stream
}

function spinner(system: System, text: string): Shown {
  let current = text
  let stopped = false
  let shown: { text: string; stop(): unknown } | undefined
  const columns = (system.stderr as { columns?: number }).columns ?? DEFAULT_COLUMNS
  const fitted = () => clip(printable(unbroken(current)), columns - 4)
  const show = async () => {
    const { default: ora } = await import('ora')
    if (stopped) return
    shown = ora({ text: fitted(), stream: system.stderr as NodeJS.WritableStream, discardStdin: false }).start()
  }
  const timer = setTimeout(() => void show(), SPINNER_DELAY_MS)
  return {
    update(next) {
      current = next
      if (shown) shown.text = fitted()
    },
    stop() {
      stopped = true
      clearTimeout(timer)
      shown?.stop()
    },
  }
}

function waitingLines({ say }: ProgressHost, text: string): Shown {
  let current = text
  let timer: NodeJS.Timeout
  const again = () => {
    timer = setTimeout(() => {
      say(`still waiting: ${current}`)
      again()
    }, WAITING_LINE_MS)
    timer.unref()
  }
  again()
  return {
    update(next) {
      current = next
    },
    stop: () => clearTimeout(timer),
  }
}

async function confirm(io: Io, system: System, question: string): Promise<void> {
  if (io.settings.yes) return
  if (!io.canAsk)
    throw usage('Confirmation needed: add --yes (no terminal to ask on).', { facts: [question], next: ['… --yes'] })
  const answer = await readLine(system, `${printable(unbroken(question))} [y/N] `, false)
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError('cancelled', 'Nothing was done.')
}

async function ask(
  io: Io,
  system: System,
  { question, flag, hidden = false }: { question: string; flag: string; hidden?: boolean },
): Promise<string> {
  if (io.canAsk) return readLine(system, `${printable(unbroken(question))} `, hidden)
  throw usage(`Input needed, and there is no terminal to ask on: ${question}`, { next: [`… ${flag}`] })
}

async function readLine(system: System, question: string, hidden: boolean): Promise<string> {
  const { createInterface } = await import('node:readline')
  const { Writable } = await import('node:stream')
  let muted = false
  const output = new Writable({
    write(chunk, _encoding, done) {
      if (!muted) system.stderr.write(chunk)
      done()
    },
  })
  const reader = createInterface({ input: system.stdin as NodeJS.ReadStream, output, terminal: true })
  try {
    return await new Promise<string>((resolve, reject) => {
      reader.question(question, resolve)
      muted = hidden
      reader.once('SIGINT', () => reject(new CliError('interrupted', 'Interrupted by ctrl-c.')))
      reader.once('close', () => reject(new CliError('cancelled', 'The input ended before an answer.')))
    })
  } finally {
    reader.close()
    if (hidden) system.stderr.write('\n')
  }
}

async function readStdin(system: System): Promise<string> {
  if (system.stdinIsTty) throw usage('This command reads stdin, and nothing is piped in.', { next: ['… < FILE'] })
  const parts: Uint8Array[] = []
  let total = 0
  for await (const chunk of system.stdin) {
    const part = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
    total += part.byteLength
    if (total > STDIN_BYTES_MAX) throw usage(`stdin is larger than ${STDIN_BYTES_MAX} bytes`)
    parts.push(part)
  }
  return new TextDecoder().decode(Buffer.concat(parts))
}

/** Asks for a new passphrase, twice. @throws CliError `usage` if the two differ */
export async function askTwice(io: Pick<Io, 'ask'>, flag: string): Promise<string> {
  const how = { hidden: true, flag }
  const first = await io.ask('Passphrase:', how)
  if ((await io.ask('Again:', how)) !== first) throw usage('The passphrases differ; nothing was written.')
  return first
}
