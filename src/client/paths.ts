import { homedir, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

export type Env = Readonly<Record<string, string | undefined>>

/** The folders of one instance. `config` and `cache` are shared by all instances. */
export type Places = {
  readonly instance: string
  /** `remotes.json`, `settings.json`, `wallets/`, `secrets.json`. */
  readonly config: string
  /** The daemon's store; nothing else writes there. */
  readonly data: string
  /** `daemon.log`, `daemon.out`, `last-stop.json`. */
  readonly state: string
  /** `daemon.json`, the registration; gone after a reboot where the system offers such a folder. */
  readonly runtime: string
  /** Compile cache; may be deleted at any time. */
  readonly cache: string
  /** The folder that `--data` or `SOUK_DATA_DIR` named, if one did. */
  readonly chosenData?: string
}

export type PlaceChoices = {
  readonly instance?: string | undefined
  readonly configDir?: string | undefined
  readonly dataDir?: string | undefined
}

export const DEFAULT_INSTANCE = 'default'
const INSTANCE_NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/

/** Whether a name may stand in a path: lower-case letters, digits, `-` and `_`, at most 32. */
export function isInstanceName(name: string): boolean {
  return INSTANCE_NAME.test(name)
}

/**
 * Folders by flag, then `SOUK_CONFIG_DIR`/`SOUK_DATA_DIR`, then XDG, then the home folder.
 * With a chosen data folder everything of the instance lies inside it, so two of them never meet.
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

/** A path as people type it: the home folder as `~`. */
export function shortPath(path: string, env: Env): string {
  const home = env.HOME
  return home && (path === home || path.startsWith(`${home}/`)) ? `~${path.slice(home.length)}` : path
}
