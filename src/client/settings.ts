import { join } from 'node:path'
import { z } from 'zod'
import { readJson, writeJson } from './files.ts'
import type { Places } from './paths.ts'

const Settings = z.object({
  /** Remote used when neither flag nor environment names one. */
  remote: z.string().optional(),
  /** Wallet used when neither flag nor environment names one. */
  wallet: z.string().optional(),
})
export type Settings = z.output<typeof Settings>

function fileOf(places: Pick<Places, 'config'>): string {
  return join(places.config, 'settings.json')
}

/** Choices that `wallet use` and `remote use` keep. */
export function readSettings(places: Pick<Places, 'config'>): Settings {
  return readJson(fileOf(places), Settings) ?? {}
}

/** Changes the named members; a member set to undefined is dropped. */
export function changeSettings(places: Pick<Places, 'config'>, change: Partial<Settings>): Settings {
  const settings = { ...readSettings(places), ...change }
  writeJson(fileOf(places), settings)
  return settings
}
