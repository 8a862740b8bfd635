import { statSync } from 'node:fs'
import { chown, mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { leftoverPrefix, leftoversIn, removeLeftover } from '../program/leftovers.ts'
import { killGroup, startProcess } from '../program/start.ts'
import { type Cdp, openCdp } from './cdp.ts'
import { BrowserError } from './error.ts'

const KIND = 'browser'
const OTHERS_MAY_ENTER = 0o001
/** User id of `nobody`, who runs the browser if the daemon runs as root. The browser's sandbox fails for root. */
const NOBODY = 65_534

/** User and group of the browser process; empty if they are the daemon's own. */
const browserUser: { readonly uid?: number; readonly gid?: number } =
  process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

/** A temporary profile folder, owned by the browser's user. */
async function makeProfile(): Promise<string> {
  const profile = await mkdtemp(join(home(), leftoverPrefix(KIND)))
  if (browserUser.uid !== undefined) await chown(profile, NOBODY, NOBODY)
  return profile
}

/** Removes profile folders and ends browser processes that a killed daemon left. */
export async function sweepProfiles(now: number): Promise<void> {
  const owners = [process.getuid?.(), browserUser.uid]
  for (const profile of await leftoversIn({ folder: home(), kind: KIND, now, owners })) {
    for (const pid of await processesOf(profile)) end(pid)
    await removeLeftover(profile)
  }
}

async function processesOf(profile: string): Promise<number[]> {
  if (process.platform !== 'linux') return []
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger)
  const flags = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')), // it ended meanwhile
  )
  return pids.filter((_, at) => flags[at]?.split('\0').includes(`--user-data-dir=${profile}`))
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has exited already.
  }
}

/** A temporary folder that the browser's user can enter. */
function home(): string {
  const own = tmpdir()
  return browserUser.uid === undefined || isOpen(own) ? own : '/tmp'
}

function isOpen(folder: string): boolean {
  const parent = dirname(folder)
  const mayEnter = (statSync(folder).mode & OTHERS_MAY_ENTER) !== 0
  return mayEnter && (parent === folder || isOpen(parent))
}

type FlagFacts = {
  readonly profile: string
  /** Loopback port of the `GuardedProxy`, the browser's only way to the network. */
  readonly proxyPort: number
  readonly userAgent: string
  readonly isSandboxed: boolean
  readonly trustedKeys?: readonly string[] | undefined
}

/** Heap limit for a page's scripts, in megabytes. */
const MAX_SCRIPT_HEAP_MB = 256

/** Never resolves (RFC 2606). */
const NOWHERE = 'http://nowhere.invalid'

/** Browser features to disable, because they send requests of their own or bypass a proxy. */
const offFeatures = [
  'AsyncDns',
  'AutofillServerCommunication',
  'CertificateTransparencyComponentUpdater',
  'DialMediaRouteProvider',
  'DnsOverHttps',
  'DnsOverHttpsUpgrade',
  'InterestFeedContentSuggestions',
  'MediaRouter',
  'NetworkPrediction',
  'OptimizationHints',
  'Prerender2',
  'Translate',
  'WebTransport',
] as const

/**
 * Flags that route all traffic through the proxy: no DNS, no datagrams, no vendor services. The bypass list
 * `<-loopback>` sends requests to loopback through the proxy, too.
 */
function browserFlags({ profile, proxyPort, userAgent, isSandboxed, trustedKeys = [] }: FlagFacts): string[] {
  return [
    '--headless=new',
    '--remote-debugging-pipe',
    `--user-data-dir=${profile}`,
    `--disk-cache-dir=${profile}/cache`,
    `--crash-dumps-dir=${profile}`,
    `--user-agent=${userAgent}`,
    `--proxy-server=http://127.0.0.1:${proxyPort}`,
    '--proxy-bypass-list=<-loopback>',
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--disable-quic',
    '--dns-prefetch-disable',
    `--gaia-url=${NOWHERE}`,
    `--google-base-url=${NOWHERE}`,
    `--component-updater=url-source=${NOWHERE}`,
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-component-extensions-with-background-pages',
    '--disable-extensions',
    '--disable-default-apps',
    '--disable-sync',
    '--disable-domain-reliability',
    '--disable-client-side-phishing-detection',
    '--disable-breakpad',
    '--disable-crash-reporter',
    '--no-crash-upload',
    '--no-pings',
    '--no-first-run',
    '--no-default-browser-check',
    '--no-service-autorun',
    '--no-startup-window',
    '--metrics-recording-only',
    '--deny-permission-prompts',
    '--password-store=basic',
    '--use-mock-keychain',
    `--disable-features=${offFeatures.join(',')}`,
    `--js-flags=--max-old-space-size=${MAX_SCRIPT_HEAP_MB}`,
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--disable-notifications',
    '--disable-speech-api',
    '--mute-audio',
    '--hide-scrollbars',
    '--force-color-profile=srgb',
    '--lang=en-US',
    ...(isSandboxed ? [] : ['--no-sandbox']),
    ...(trustedKeys.length === 0 ? [] : [`--ignore-certificate-errors-spki-list=${trustedKeys.join(',')}`]),
  ]
}

/** Memory limit for all processes of one browser. */
export const MAX_BROWSER_BYTES = 1_024 * 1024 * 1024
/** `PATH` of the browser process. */
const SEARCH_PATH = '/usr/local/bin:/usr/bin:/bin'
/** The browser's file descriptors for the DevTools protocol. */
const TO_BROWSER = 3
const FROM_BROWSER = 4

export type Launched = {
  readonly cdp: Cdp
  readonly pid: number
  /** Highest memory seen, in bytes; 0 if unknown. */
  readonly peakBytes: () => number
  /** Kills all processes of the browser and removes its folder. Commands in progress fail with `why`. */
  readonly end: (why: BrowserError) => Promise<void>
}

export type LaunchOptions = Omit<FlagFacts, 'profile'> & {
  readonly path: string
  readonly onFailure: (why: BrowserError) => void
  readonly maxBytes?: number
  /** Limit of processor time, where it is known: a machine that others keep busy takes longer for the same work. */
  readonly maxCpuMs: number
}

/** Starts a browser in its own process group, as an unprivileged user if the daemon runs as root. */
export async function launchBrowser(options: LaunchOptions): Promise<Launched> {
  const profile = await makeProfile()
  const started = await startIn(profile, options)
  const { pid, exited } = started
  const cdp = openCdp(started.input(TO_BROWSER), started.output(FROM_BROWSER))
  void exited.then(() => {
    cdp.close('The browser stopped.')
    options.onFailure(new BrowserError('gone', 'The browser exited unexpectedly.'))
  })
  const { onFailure, maxBytes = MAX_BROWSER_BYTES, maxCpuMs } = options
  let peak = 0
  started.onUse(({ bytes, cpuMs }) => {
    if (cpuMs > maxCpuMs) onFailure(new BrowserError('page', 'The page did not finish in time'))
    peak = Math.max(peak, bytes)
    if (bytes > maxBytes) onFailure(new BrowserError('page', 'The page exceeds the memory limit'))
  })
  return {
    cdp,
    pid,
    peakBytes: () => peak,
    end: async (why) => {
      cdp.close(why.message)
      killGroup(pid)
      await exited
      await removeLeftover(profile)
    },
  }
}

async function startIn(profile: string, options: LaunchOptions) {
  try {
    return await startProcess({
      file: options.path,
      args: browserFlags({ ...options, profile }),
      cwd: profile,
      env: { PATH: SEARCH_PATH, LANG: 'en_US.UTF-8', TZ: 'UTC', HOME: profile, TMPDIR: profile },
      descriptors: ['ignore', 'ignore', 'ignore', 'in', 'out'],
      ...browserUser,
    })
  } catch (error) {
    await removeLeftover(profile)
    throw new BrowserError('gone', 'The browser does not start.', error)
  }
}
