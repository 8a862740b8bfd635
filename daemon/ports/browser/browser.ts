import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { SECOND_MS } from '../../../src/core/time.ts'
import type { Engine, EngineStanding } from '../engine.ts'
import { fairQueue } from '../fair-queue.ts'
import { findProgram } from '../program/program.ts'
import { USER_AGENT } from '../web/request.ts'
import type { Web } from '../web/web.ts'
import { CdpError } from './cdp.ts'
import { BrowserError } from './error.ts'
import { type Launched, launchBrowser, sweepProfiles } from './launch.ts'
import { type BrowserPage, openPage } from './page.ts'
import { openProxy } from './proxy.ts'
import { openSession, type ScreenSize } from './session.ts'

export const screens = {
  desktop: { width: 1_366, height: 768, deviceScaleFactor: 1, mobile: false },
  mobile: { width: 390, height: 844, deviceScaleFactor: 3, mobile: true },
  /** The screens on which Lighthouse measures speed. */
  labDesktop: { width: 1_350, height: 940, deviceScaleFactor: 1, mobile: false },
  labMobile: { width: 412, height: 823, deviceScaleFactor: 1.75, mobile: true },
} as const satisfies { readonly [name: string]: ScreenSize }
export type ScreenName = keyof typeof screens

export type BrowserJob = {
  readonly screen: ScreenName
  readonly signal: AbortSignal
  /** Caller id; waiting callers take turns. */
  readonly who?: string
}

/** Runs each job in a browser of its own, so that pages are isolated. */
export type Browser = {
  /** Version at the last check, such as `Chromium 156.0.8078.79`. */
  readonly version: () => string
  /** Runs `work` on a page in a new browser, then closes the browser. @throws BrowserError, WebError */
  readonly withPage: <T>(job: BrowserJob, work: (page: BrowserPage) => Promise<T>) => Promise<T>
}

export type BrowserOptions = {
  readonly web: Pick<Web, 'dial' | 'mayRead'>
  /** Name or path of the browser (default: the first of the usual names and paths that exists). */
  readonly path?: string | undefined
  /** False only if this machine cannot run the browser's sandbox (default: true). */
  readonly isSandboxed?: boolean
  /** SHA-256 hashes of additional trusted public keys, in base64; for tests only. */
  readonly trustedKeys?: readonly string[]
  readonly jobMs?: number
  readonly jobCpuMs?: number
  readonly maxBytes?: number
}

/** Executable names of supported browsers, smallest first. */
const names = ['chromium-headless-shell', 'chrome-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

/** Paths to try if no supported browser is on the `PATH`. */
const places: { readonly [platform: string]: readonly string[] } = {
  darwin: [
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  ],
  win32: ['C:\\Program Files', 'C:\\Program Files (x86)'].map((folder) =>
    join(folder, 'Google', 'Chrome', 'Application', 'chrome.exe'),
  ),
}

/** Limit of concurrent browsers. Each takes about 150 MB for a small page. */
export const MAX_BROWSERS = 2
const MAX_WAITING = 32
/** Limits of a job: processor time, and the time that it may take on a machine that others keep busy. */
const JOB_CPU_MS = 60 * SECOND_MS
const JOB_MS = 120 * SECOND_MS
const VERSION_MS = 10 * SECOND_MS
const MAX_VERSION_CHARS = 100
const FIX = 'apt-get install chromium-headless-shell, or set browser.path in the engines file'

export type BrowserEngine = Engine<Browser> & {
  /** Process ids of running browsers. */
  readonly running: () => readonly number[]
  readonly peakBytes: () => number
}

export function openBrowsers(options: BrowserOptions): BrowserEngine {
  const turns = takeTurns()
  const running = new Set<Launched>()
  const state = { version: '', isOpen: true, isSuspect: false, peakBytes: 0 }

  async function withPage<T>(job: BrowserJob, work: (page: BrowserPage) => Promise<T>): Promise<T> {
    const leave = await turns.enter(job)
    try {
      return await runJob({ options, job, running, state }, work)
    } finally {
      leave()
    }
  }

  return {
    port: { version: () => state.version, withPage },
    initial: { status: 'missing', detail: 'The browser has not been checked yet.', fix: FIX },
    probe: () => look(options, state, withPage),
    close: async () => {
      state.isOpen = false
      await Promise.all([...running].map(({ end }) => end(new BrowserError('gone', 'The daemon is stopping.'))))
    },
    running: () => [...running].map(({ pid }) => pid),
    peakBytes: () => state.peakBytes,
  }
}

type State = { version: string; isOpen: boolean; isSuspect: boolean; peakBytes: number }
type Job = {
  readonly options: BrowserOptions
  readonly job: BrowserJob
  readonly running: Set<Launched>
  readonly state: State
}

async function runJob<T>(job: Job, work: (page: BrowserPage) => Promise<T>): Promise<T> {
  const { options, state } = job
  const failed = Promise.withResolvers<never>()
  // Avoids an unhandled rejection. The race below passes the error to the caller.
  failed.promise.catch(() => undefined)
  const late = AbortSignal.timeout(options.jobMs ?? JOB_MS)
  const signal = AbortSignal.any([job.job.signal, late])
  const onAbort = () => failed.reject(new BrowserError('page', 'The page did not finish in time'))
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  const onFailure = (why: BrowserError) => failed.reject(why)
  const opened = open(job, { signal, onFailure })
  try {
    return await Promise.race([opened.page.then(work), failed.promise])
  } catch (error) {
    const why = error instanceof CdpError ? asBrowserError(error) : error
    if (why instanceof BrowserError && why.failure === 'gone') state.isSuspect = true
    throw why
  } finally {
    signal.removeEventListener('abort', onAbort)
    await opened.close()
  }
}

function asBrowserError(error: CdpError): BrowserError {
  if (error.isGone) return new BrowserError('gone', 'The browser stopped.', error)
  return new BrowserError('page', 'The page closed during the check', error)
}

type Bounds = { readonly signal: AbortSignal; readonly onFailure: (why: BrowserError) => void }

/** Starts a browser and opens its page. `close` also ends a browser that is still starting. */
function open({ options, job, running, state }: Job, { signal, onFailure }: Bounds) {
  const onExceeded = (what: string) => onFailure(new BrowserError('page', what))
  const proxy = openProxy({ web: options.web, onExceeded })
  const launched = proxy.then(async ({ port }) => {
    const path = findBrowser(options.path)
    if (path === undefined || !state.isOpen) throw new BrowserError('gone', 'No browser is available.')
    const { isSandboxed = true, trustedKeys, maxBytes, jobCpuMs: maxCpuMs = JOB_CPU_MS } = options
    const facts = { path, proxyPort: port, userAgent: userAgent(state.version, job.screen), isSandboxed, trustedKeys }
    const started = await launchBrowser({
      ...facts,
      onFailure,
      maxCpuMs,
      ...(maxBytes === undefined ? {} : { maxBytes }),
    })
    running.add(started)
    return started
  })
  const page = Promise.all([proxy, launched]).then(async ([proxy, { cdp }]) => {
    const screen = screens[job.screen]
    return openPage(await openSession({ cdp, proxy, web: options.web, screen, signal, onExceeded: onFailure }))
  })
  page.catch(() => undefined) // whoever waits for it hears of it
  return {
    page,
    close: async () => {
      const [started, passed] = await Promise.allSettled([launched, proxy])
      if (started.status === 'fulfilled') {
        await started.value.end(new BrowserError('gone', 'The browser was stopped.'))
        state.peakBytes = Math.max(state.peakBytes, started.value.peakBytes())
        running.delete(started.value)
      }
      if (passed.status === 'fulfilled') await passed.value.close()
    },
  }
}

/** The browser's user agent on this screen, followed by the daemon's own. */
function userAgent(version: string, screen: ScreenName): string {
  const major = /(\d+)\./.exec(version)?.[1] ?? '130'
  const [platform, mobile] = screens[screen].mobile ? ['Linux; Android 10; K', ' Mobile'] : ['X11; Linux x86_64', '']
  const engine = `AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0${mobile} Safari/537.36`
  return `Mozilla/5.0 (${platform}) ${engine} ${USER_AGENT}`
}

/** Checks the browser: reads its version and, after a browser failure, opens a page to test the sandbox. */
async function look(options: BrowserOptions, state: State, withPage: Browser['withPage']): Promise<EngineStanding> {
  const path = findBrowser(options.path)
  if (path === undefined) return { status: 'missing', detail: 'Chromium is not installed.', fix: FIX }
  await sweepProfiles(Date.now())
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: VERSION_MS })
    state.version = stdout.trim().slice(0, MAX_VERSION_CHARS)
    if (state.isSuspect) {
      const signal = AbortSignal.timeout(VERSION_MS)
      await withPage({ screen: 'desktop', signal }, (page) => page.evaluate('1', z.literal(1)))
      state.isSuspect = false
    }
    const how = options.isSandboxed === false ? 'without its sandbox' : 'sandboxed'
    return { status: 'ok', detail: `${state.version}, ${how}` }
  } catch {
    const fix = 'run Chromium to see why; if its sandbox is forbidden, set browser.sandbox: false in the engines file'
    return { status: 'failing', detail: 'The browser does not start.', fix }
  }
}

/** Lets at most `MAX_BROWSERS` jobs run at the same time; waiting callers take turns. */
function takeTurns() {
  type Waiting = { readonly begin: () => void; readonly refuse: (why: BrowserError) => void }
  const waiting = fairQueue<Waiting>(MAX_WAITING)
  let running = 0

  function leave(): void {
    running -= 1
    const next = waiting.shift()
    if (!next) return
    running += 1
    next.begin()
  }

  async function enter({ who = '', signal }: BrowserJob): Promise<() => void> {
    if (running < MAX_BROWSERS) {
      running += 1
      return leave
    }
    const turn = Promise.withResolvers<void>()
    const item: Waiting = { begin: turn.resolve, refuse: turn.reject }
    const onAbort = () => {
      if (waiting.remove(who, item)) turn.reject(new BrowserError('busy', 'The request was cancelled while queued'))
    }
    signal.addEventListener('abort', onAbort, { once: true })
    waiting.push(who, item)?.refuse(new BrowserError('busy', 'Too many requests wait for a browser'))
    await turn.promise.finally(() => signal.removeEventListener('abort', onAbort))
    return leave
  }

  return { enter }
}

/** Path of the browser; undefined if none is found. If one is configured, no other is tried. */
function findBrowser(configured?: string): string | undefined {
  const candidates = configured === undefined ? [...names, ...(places[process.platform] ?? [])] : [configured]
  return candidates.map((name) => findProgram(name)).find(Boolean)
}
