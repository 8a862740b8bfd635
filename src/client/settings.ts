import { join } from 'node:path'
import { AppError } from '../core/error.ts'
import { isObject, parseJson } from '../core/json.ts'
import { readText, writeJson } from './files.ts'
import type { Places } from './paths.ts'

/** Name of the local daemon, which is found by its registration. */
export const LOCAL = 'local'

export type Settings = {
  /** Default remote. */
  readonly remote?: string | undefined
  /** Default wallet. */
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
