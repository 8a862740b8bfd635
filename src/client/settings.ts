import { join } from 'node:path'
import { AppError } from '../core/error.ts'
import { isObject, parseJson } from '../core/json.ts'
import { readText, writeJson } from './files.ts'
import type { Places } from './paths.ts'

/** The daemon of this machine; found by its registration file, never stored. */
export const LOCAL = 'local'

export type Settings = {
  /** Remote used when neither flag nor environment names one. */
  readonly remote?: string | undefined
  /** Wallet used when neither flag nor environment names one. */
  readonly wallet?: string | undefined
  /** Global options as typed, by key: what holds where neither flag nor environment says otherwise. */
  readonly options?: Readonly<Record<string, string>> | undefined
}

function fileOf(places: Pick<Places, 'config'>): string {
  return join(places.config, 'settings.json')
}

/** Choices that `wallet use` and `remote use` keep. @throws AppError invalid_request when the file is damaged. */
export function readSettings(places: Pick<Places, 'config'>): Settings {
  const text = readText(fileOf(places))
  if (text === undefined) return {}
  try {
    const value = parseJson(text)
    if (!isObject(value)) throw new TypeError('it holds no object')
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

/** Changes the named members; a member set to undefined is dropped. */
export function changeSettings(places: Pick<Places, 'config'>, change: Settings): Settings {
  const settings = { ...readSettings(places), ...change }
  writeJson(fileOf(places), settings)
  return settings
}
