import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createLink, problemOf } from '../src/cli/cockpit-link.ts'
import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { CliError, usage } from '../src/cli/exit.ts'
import { keptViewsFile, lookOf, putOffFile, readSkin, themes, wishedTheme } from '../src/cli/files/cockpit-style.ts'
import { readKeyFile } from '../src/cli/files/key-file.ts'
import * as z from '../src/cli/params.ts'
import { Duration } from '../src/cli/params.ts'
import { splitWords } from '../src/cli/split-words.ts'
import { writeJson } from '../src/client/files.ts'
import type { Outcome } from '../src/client/link.ts'
import { listRemotes } from '../src/client/remotes.ts'
import { LOCAL, type Places } from '../src/client/settings.ts'
import { attempt, errnoOf } from '../src/core/error.ts'
import { isObject } from '../src/core/json.ts'
import { keptIn } from '../src/core/record.ts'
import { MINUTE_MS } from '../src/core/time.ts'
import { screenIds } from '../src/nouns/screens.ts'
import { createPrograms } from '../src/provider/cockpit-program.ts'
import { oneLine } from '../src/text/text.ts'
import { clockTime } from '../src/text/time.ts'
import type { CockpitOptions } from '../src/tui/host.ts'
import type { OwnStyle } from '../src/tui/shell/screen.ts'

const DEFAULT_REFRESH_MS = 2_000
const LEAST_REFRESH_MS = 500
const INSTANCES_AFTER_MS = 300

const args = z.object({ screen: z.enum(screenIds).default('overview').meta({ description: 'first screen' }) })
const options = z.object({
  refresh: Duration.default(DEFAULT_REFRESH_MS).meta({ description: 'refresh interval', value: 'duration' }),
  readonly: z.flag({ description: 'disable keys that change data (default for remotes)' }),
  write: z.flag({ description: 'enable keys that change data on a remote' }),
  mouse: z.flag({ description: 'read the mouse: click rows and tabs, turn the wheel' }),
  theme: z.text({
    description:
      'dark, light or a skin: a JSON file, or its name in the configuration folder (default: ask the terminal)',
    value: 'name',
  }),
})
type Context = CommandContext<z.output<typeof args>, z.output<typeof options>>

export const command = defineCommand({
  name: 'tui',
  heading: 'Daemon',
  summary: 'open the full-screen cockpit',
  description: 'Same as `souk` alone on a terminal. Press ? for the keys. Without a terminal it prints `souk status`.',
  args,
  options,
  ownForm: true,
  examples: ['souk tui', 'souk tui crons --readonly', 'souk tui --theme ./night.json'],
  async run(context) {
    if (await plainly(context)) return { closed: true }
    checkTerminal(context)
    await checkTarget(context)
    const theme = context.options.theme ?? wishedTheme(context.system.env)
    const link = createLink(context)
    const programs = createPrograms(context, link.place)
    const options = { ...cockpitOptions(context, link), programs }
    if (options.look.palette === 'mono') forbidColor()
    // Asks for the terminal's background color early, so that the terminal answers while the cockpit loads.
    const asking = withGround(options, theme === 'dark' || theme === 'light')
    const { openCockpit } = await withoutFetch(() => import('../src/tui/open.tsx'))
    const asked = await asking
    const own = await ownStyle(context, asked.look, theme)
    const wanted = await openCockpit({ ...asked, ...own })
      .catch((error: unknown) => Promise.reject(crashed(context, error)))
      .finally(programs.close)
    if (wanted !== undefined && !context.signal.aborted)
      await context.invoke(['tui', ...optionsOf(wanted), ...sameOptions(context)])
    if (context.signal.aborted) throw new CliError('interrupted', 'The cockpit is closed.')
    return { closed: true }
  },
  view: () => undefined,
})

/**
 * Without a usable terminal, prints the status instead: once in a pipe, repeatedly on a dumb terminal.
 * @returns whether it printed the status
 */
async function plainly(context: Context): Promise<boolean> {
  const { io, options, system, signal } = context
  const isTerminal = system.stdout.isTTY === true && system.stdinIsTty
  if (io.settings.format !== 'human' || (isTerminal && system.env.TERM !== 'dumb')) return false
  for (;;) {
    const { show } = await context.invoke(['status'])
    show(io)
    if (!isTerminal) return true
    await system.sleep(Math.max(options.refresh, LEAST_REFRESH_MS), signal)
    if (signal.aborted) return true
  }
}

/** The typed options as words, for opening the cockpit again at another marketplace. */
function sameOptions({ options: { refresh, readonly, write, mouse, theme } }: Context): readonly string[] {
  return [
    '--refresh',
    `${refresh}ms`,
    ...(readonly ? ['--readonly'] : []),
    ...(write ? ['--write'] : []),
    ...(mouse ? ['--mouse'] : []),
    ...(theme === undefined ? [] : ['--theme', theme]),
  ]
}

/** The marketplaces to switch to; undefined if the cockpit was opened by `--base-url`. */
function othersOf(context: Context): CockpitOptions['others'] {
  if (context.globals.baseUrl !== undefined) return undefined
  const { places } = context
  const { name, guarded } = createLink(context).place
  const here = guarded ? name : LOCAL
  const instances = new Map<string, Places>()
  const links = new Map<string, CockpitOptions['link']>()
  // Loaded when the first frame stands, because these modules are large.
  const load = async () => {
    const { instancesBeside } = await import('../src/lifecycle/stop.ts')
    const others = instancesBeside(context).filter(({ instance }) => instance !== places.instance)
    for (const one of others) instances.set(`${LOCAL}:${one.instance}`, { ...one, config: places.config })
  }
  setTimeout(load, INSTANCES_AFTER_MS).unref()
  const linkTo = (name: string) => {
    const remote = instances.has(name) ? LOCAL : name
    return createLink({ ...context, places: instances.get(name) ?? places, globals: { ...context.globals, remote } })
  }
  return {
    names: () =>
      [LOCAL, ...instances.keys(), ...listRemotes(places).map(({ name }) => name)].filter((one) => one !== here),
    link: (name) => keptIn(links, name, () => linkTo(name)),
  }
}

/**
 * Command-line options that open a marketplace from the `@` list. `name` is a remote, `local`, or `local:` and the name
 * of another instance.
 */
function optionsOf(name: string): readonly string[] {
  const instance = name.startsWith(`${LOCAL}:`) ? name.slice(LOCAL.length + 1) : undefined
  return instance === undefined ? ['-r', name] : ['-r', LOCAL, '--instance', instance]
}

function checkTerminal({ io, system }: Context): void {
  const isTerminal = system.stdout.isTTY === true && system.stdinIsTty && system.env.TERM !== 'dumb'
  if (isTerminal && io.settings.format === 'human') return
  const message = isTerminal ? 'The cockpit prints no data: it is interactive.' : 'The cockpit needs a terminal.'
  throw usage(message, { next: ['souk status', 'souk status --json'] })
}

/** A stopped daemon is a valid state; an unknown remote is an error. */
async function checkTarget({ session }: Context): Promise<void> {
  try {
    await session()
  } catch (error) {
    if (!(error instanceof CliError && error.exit === 'no_daemon')) throw error
  }
}

function cockpitOptions(context: Context, link: CockpitOptions['link']): CockpitOptions {
  const { args, options, system, signal } = context
  if (options.refresh < LEAST_REFRESH_MS) throw usage(`--refresh must be at least ${LEAST_REFRESH_MS} ms.`)
  return {
    link,
    look: lookOf(context),
    zone: context.io.settings.times === 'utc' ? 'utc' : 'local',
    screen: args.screen,
    mouse: options.mouse,
    refreshMs: options.refresh,
    readonly: options.readonly || (link.place.guarded && !options.write),
    snapshot: snapshotsOf(context),
    lastWords: lastWordsOf(context),
    others: othersOf(context),
    putOffFile: putOffFile(context.places),
    keptViews: keptViewsFile(context.places, link.place.name),
    save: savedIn(context),
    edit: async (listing) => (await import('../src/cli/nouns/services/write.ts')).editedListing(context, listing),
    commandLine: createCommandLine(context),
    painter: system.env.SOUK_TUI_PAINTER === 'ink' ? 'ink' : 'own',
    now: system.now,
    // `checkTerminal` has checked that stdin and stdout are terminals.
    stdin: system.stdin as NodeJS.ReadStream,
    stdout: system.stdout as NodeJS.WriteStream,
    signal,
  }
}

/** Returns a function that saves text to a new file; relative to the folder where the cockpit was started. */
function savedIn({ io, system }: Context): CockpitOptions['save'] {
  return (name, text) => {
    const file = resolve(name.replace(/^~(?=\/)/, system.env.HOME ?? '~'))
    try {
      writeFileSync(file, text, { flag: 'wx', mode: 0o600 })
      return { ok: true, value: io.path(file) }
    } catch (error) {
      const sentence = `${io.path(file)} exists already: type another name.`
      const problem = problemOf(error)
      return { ok: false, problem: errnoOf(error) === 'EEXIST' ? { ...problem, sentence } : problem }
    }
  }
}

/** Reads the user's keys and skin. Faults name the file, and the line or color. @param theme - `dark`, `light`, or a skin */
async function readStyle(context: Context, look: CockpitOptions['look'], theme: string | undefined): Promise<OwnStyle> {
  const { io, places } = context
  const own = await readKeyFile(places)
  const { keys, faults } = (await import('../src/tui/rebind.ts')).rebind(own?.wishes ?? [])
  const all = [...(own?.faults ?? []), ...faults].map(
    ({ line, words }) => `${io.path(own?.file ?? '')}:${line}: ${words}`,
  )
  const named = themes.find((name) => name === theme)
  if (theme === undefined || named !== undefined)
    return { keys, look: { ...look, theme: named ?? look.theme, skin: undefined }, faults: all }
  const { skinOf } = await import('../src/tui/parts/contrast.ts')
  const { shown, written } = readSkin(context, theme)
  const { faults: wrong, ...colors } = skinOf(written, look)
  return { keys, look: { ...look, ...colors }, faults: [...all, ...wrong.map((words) => `${shown}: ${words}`)] }
}

/** Keys and colors of the user's own. What is wrong with them is reported before the cockpit opens, and again in it. */
async function ownStyle(context: Context, look: CockpitOptions['look'], first: string | undefined) {
  const { io } = context
  let theme = first
  const { faults, ...style } = await readStyle(context, look, theme)
  for (const one of faults) io.warn(one)
  const [fault] = faults
  const more = faults.length > 1 ? `, and ${faults.length - 1} more` : ''
  const reload: CockpitOptions['reload'] = async (wanted = theme) => {
    try {
      const value = await readStyle(context, look, wanted)
      theme = wanted
      return { ok: true, value }
    } catch (error) {
      return { ok: false, problem: problemOf(error) }
    }
  }
  return { ...style, reload, ...(fault === undefined ? {} : { notice: `${fault}${more}` }) }
}

/** Returns a function that copies the local store. It prints nothing, because the cockpit owns the terminal. */
function snapshotsOf(context: Context): CockpitOptions['snapshot'] {
  const link = createLink(context)
  if (link.place.guarded) return undefined
  return async (name) => {
    try {
      const { keepSnapshot } = await import('../src/lifecycle/snapshots.ts')
      return { ok: true, value: await keepSnapshot(context, name) }
    } catch (error) {
      return { ok: false, problem: problemOf(error) }
    }
  }
}

/** Returns a function that reads the last line of the local daemon's log; undefined for a remote. */
function lastWordsOf(context: Context): CockpitOptions['lastWords'] {
  if (createLink(context).place.guarded) return undefined
  return async () => {
    const { loggedLines } = await import('../src/lifecycle/log/log-tail.ts')
    const { readRecord } = await import('../src/lifecycle/log/log-record.ts')
    const line = loggedLines(context.places.state).at(-1)
    if (line === undefined) return ''
    const { atMs, fields } = readRecord(line)
    const at = Number.isNaN(atMs) ? '' : `${clockTime(atMs)} `
    return 'msg' in fields ? `${at}${fields.msg}` : ''
  }
}

/** Asks the terminal for its background, unless a theme is set or the colors do not depend on it. */
async function withGround(options: CockpitOptions, isSaid: boolean): Promise<CockpitOptions> {
  const { look } = options
  if (isSaid || look.palette === 'mono' || look.depth === '16') return options
  const { askGround } = await import('../src/tui/ground.ts')
  return { ...options, look: { ...look, theme: (await askGround(options)) ?? look.theme } }
}

/** Ink reads FORCE_COLOR when it loads. Node warns if NO_COLOR is set too. */
function forbidColor(): void {
  const { env } = process
  delete env.NO_COLOR
  env.FORCE_COLOR = '0'
}

/**
 * Hides `fetch` while Ink loads. If `fetch` exists, Ink reads its layout engine from a data URL, which loads an HTTP
 * client and takes a seventh of the time to the first frame.
 */
async function withoutFetch<T>(load: () => Promise<T>): Promise<T> {
  const fetch = Object.getOwnPropertyDescriptor(globalThis, 'fetch')
  if (fetch === undefined) return load()
  Reflect.deleteProperty(globalThis, 'fetch')
  try {
    return await load()
  } finally {
    Object.defineProperty(globalThis, 'fetch', fetch)
  }
}

/** The error for a crash of the cockpit, in one line. Writes the details to a file. */
function crashed({ io, places, system }: Context, error: unknown): CliError {
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  const file = `${places.state}/crash-tui.json`
  writeJson(file, { at: new Date(system.now()).toISOString(), version: system.version, message, stack })
  return new CliError('failure', `The cockpit failed: ${message}`, { facts: [`where: ${io.path(file)}`], cause: error })
}

const RUN_MAX_MS = 2 * MINUTE_MS
const OUTPUT_BYTES_MAX = 1_000_000

type CommandsHost = CommandContext<unknown, unknown>
type LineWord = { readonly value: string; readonly summary: string }

/** Command line of the cockpit's palette: completes commands, and runs them in a process. */
export function createCommandLine(context: CommandsHost) {
  const commands = context.entries
    .filter(({ hidden, aliasOf }) => !hidden && aliasOf === undefined)
    .map(({ name, summary }) => ({ name, summary }))
  return {
    commands,
    split: (line: string) => attempt(() => (line.trim() === '' ? [] : splitWords(line))),
    complete: (words: readonly string[]) => complete(context, words),
    run: (words: readonly string[]) => run(context, words),
  }
}

async function complete(context: CommandsHost, words: readonly string[]): Promise<readonly LineWord[]> {
  const { data } = await context.invoke(['__complete', '--scoped', '--', ...words]).catch(() => ({ data: undefined }))
  const found = isObject(data) && Array.isArray(data.candidates) ? data.candidates : []
  return found.flatMap((one) =>
    isObject(one) && typeof one.value === 'string' ? [{ value: one.value, summary: String(one.summary ?? '') }] : [],
  )
}

function run({ places, signal, system }: CommandsHost, words: readonly string[]): Promise<Outcome<string>> {
  const [program, ...first] = system.self
  const env = {
    ...system.env,
    SOUK_INSTANCE: places.instance,
    SOUK_CONFIG_DIR: places.config,
    ...(places.chosenData === undefined ? {} : { SOUK_DATA_DIR: places.chosenData }),
    NO_COLOR: '1',
  }
  const options = { env, signal, timeout: RUN_MAX_MS, maxBuffer: OUTPUT_BYTES_MAX, encoding: 'utf8' as const }
  return new Promise((resolve) => {
    const child = execFile(program, [...first, ...words], options, (error, out, err) => {
      const said = (text: string) => text.split('\n').map(oneLine).filter(Boolean)
      if (error === null) return resolve({ ok: true, value: out.trimEnd() || said(err).at(-1) || 'It is done.' })
      const [sentence = error.message, ...facts] = said(err)
      resolve({ ok: false, problem: { kind: 'failed', sentence: sentence.replace('✗ ', ''), facts, next: [] } })
    })
    child.stdin?.end()
  })
}
