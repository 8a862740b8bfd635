import { homedir, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { AppError } from '../core/error.ts'
import { isObject, parseJson } from '../core/json.ts'
import { readText, writeJson } from './files.ts'

/** Name of the local daemon, which is found by its registration. */
export const LOCAL = 'local'

export type Settings = {
  readonly remote?: string | undefined
  readonly wallet?: string | undefined
  /** Saved global options as typed. */
  readonly options?: Readonly<Record<string, string>> | undefined
}

function fileOf(places: Pick<Places, 'config'>): string {
  return join(places.config, 'settings.json')
}

/** Reads the saved settings. @throws AppError `invalid_request` if the file is damaged */
export function readSettings(places: Pick<Places, 'config'>): Settings {
  const text = readText(fileOf(places))
  if (text === undefined) return {}
  try {
    const value = parseJson(text)
    if (!isObject(value)) throw new TypeError('it is not an object')
    const { remote, wallet, options } = value
    return { ...named('remote', remote), ...named('wallet', wallet), ...textsOf(options) }
  } catch (cause) {
    throw new AppError('invalid_request', `${fileOf(places)} is damaged.`, { cause })
  }
}

function named<K extends keyof Settings>(key: K, value: unknown): Settings {
  return typeof value === 'string' ? { [key]: value } : {}
}

function textsOf(options: unknown): Settings {
  if (typeof options !== 'object' || options === null) return {}
  const texts = Object.entries(options).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))
  return { options: Object.fromEntries(texts) }
}

/** Changes settings and saves them. A setting that is undefined in `change` is removed. */
export function changeSettings(places: Pick<Places, 'config'>, change: Settings): Settings {
  const settings = { ...readSettings(places), ...change }
  writeJson(fileOf(places), settings)
  return settings
}

export type Env = Readonly<Record<string, string | undefined>>

/** Folders of an instance. All instances share `config` and `cache`. */
export type Places = {
  readonly instance: string
  /** `remotes.json`, `settings.json`, `wallets/`, `secrets.json`. */
  readonly config: string
  /** Store of the daemon; nothing else writes there. */
  readonly data: string
  /** `daemon.log`, `daemon.out`, `last-stop.json`. */
  readonly state: string
  /** Holds `daemon.json`, the registration. On systems that support it, a reboot empties this folder. */
  readonly runtime: string
  /** Caches of compiled code and answers; safe to delete. */
  readonly cache: string
  /** Folder from `--data` or `SOUK_DATA_DIR`. */
  readonly chosenData?: string
}

type PlaceChoices = {
  readonly instance?: string | undefined
  readonly configDir?: string | undefined
  readonly dataDir?: string | undefined
}

export const DEFAULT_INSTANCE = 'default'
const INSTANCE_NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/

/** Whether a name is valid: lower-case letters, digits, `-` and `_`, at most 32 characters. */
export function isInstanceName(name: string): boolean {
  return INSTANCE_NAME.test(name)
}

/**
 * Folders by flag, else by `SOUK_CONFIG_DIR` or `SOUK_DATA_DIR`, else by the XDG variables, else in the home folder. A
 * chosen data folder also contains the instance's state and registration.
 */
export function placesOf(env: Env, choices: PlaceChoices = {}): Places {
  const instance = choices.instance ?? (env.SOUK_INSTANCE || DEFAULT_INSTANCE)
  const config = chosen(choices.configDir, env.SOUK_CONFIG_DIR) ?? xdg(env, 'XDG_CONFIG_HOME', '.config')
  const cache = xdg(env, 'XDG_CACHE_HOME', '.cache')
  const dataDir = chosen(choices.dataDir, env.SOUK_DATA_DIR)
  if (dataDir !== undefined) {
    const root = join(dataDir, instance)
    const inside = { data: join(root, 'data'), state: join(root, 'state'), runtime: join(root, 'run') }
    return { instance, config, cache, ...inside, chosenData: dataDir }
  }
  const state = join(xdg(env, 'XDG_STATE_HOME', '.local/state'), instance)
  const runtime = env.XDG_RUNTIME_DIR ? join(env.XDG_RUNTIME_DIR, 'souk', instance) : join(state, 'run')
  return { instance, config, cache, state, runtime, data: join(xdg(env, 'XDG_DATA_HOME', '.local/share'), instance) }
}

function chosen(flag: string | undefined, variable: string | undefined): string | undefined {
  const dir = flag ?? variable
  return dir ? resolve(dir) : undefined
}

function xdg(env: Env, variable: string, underHome: string): string {
  const base = env[variable]
  return base ? join(base, 'souk') : join(env.HOME || homedir() || tmpdir(), underHome, 'souk')
}

/** Path with the home folder as `~`. */
export function shortPath(path: string, env: Env): string {
  const home = env.HOME
  return home && (path === home || path.startsWith(`${home}/`)) ? `~${path.slice(home.length)}` : path
}
