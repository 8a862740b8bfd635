import { readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readJson, shaped, writeJson } from '../../client/files.ts'
import type { Places } from '../../client/settings.ts'
import { attempt } from '../../core/error.ts'
import { KEPT_VIEWS_MAX, type KeptViews, PUT_OFF_MAX, type PutOff } from '../../model/cockpit-files.ts'
import type { CommandContext } from '../command.ts'
import { usage } from '../exit.ts'
import { colorsAllowed } from '../io.ts'

export const themes = ['dark', 'light'] as const
/** Size limit of a skin, far above what all its colors need. */
const SKIN_BYTES_MAX = 64 * 1_024

type Context = CommandContext<unknown, { readonly theme?: string | undefined }>
type Env = Readonly<Record<string, string | undefined>>

/** Colors of the terminal and of the options, without a skin. */
export function lookOf(context: Context) {
  const { io, options, system } = context
  const theme = options.theme ?? wishedTheme(system.env)
  return {
    palette: paletteOf(context),
    ascii: io.settings.ascii,
    theme: themes.find((name) => name === theme) ?? backgroundOf(system.env) ?? 'dark',
    depth: depthOf(system.env),
  }
}

function paletteOf({ io, system }: Context) {
  const { color, palette } = io.settings
  if (color === 'never' || (color === 'auto' && !colorsAllowed(system.env))) return 'mono'
  return palette
}

/** Theme or skin from SOUK_THEME, or the theme of the terminal's background if that is known. */
export function wishedTheme(env: Env): string | undefined {
  return env.SOUK_THEME || backgroundOf(env)
}

/** Theme from the background in COLORFGBG: 7 and 15 are light (`15;0` is white on black). */
function backgroundOf(env: Env) {
  const ground = /;(\d{1,2})$/.exec(env.COLORFGBG ?? '')?.[1]
  if (ground === undefined) return undefined
  return ground === '7' || ground === '15' ? 'light' : 'dark'
}

function depthOf({ COLORTERM = '', TERM = '' }: Env) {
  if (/truecolor|24bit/.test(COLORTERM)) return 'truecolor' as const
  return TERM.includes('256') ? ('256' as const) : ('16' as const)
}

/** Path and JSON of a skin: a file, or a name in the configuration folder. @throws CliError usage if there is none */
export function readSkin(
  { io, places }: Context,
  theme: string,
): { readonly shown: string; readonly written: unknown } {
  const file = /[/\\]|\.json$/.test(theme) ? resolve(theme) : join(places.config, 'skins', `${theme}.json`)
  const shown = io.path(file)
  const stat = statSync(file, { throwIfNoEntry: false })
  if (!stat?.isFile() || stat.size > SKIN_BYTES_MAX)
    throw usage(`There is no theme or skin ${shown}.`, {
      facts: ['built-in themes: dark, light', `a skin is a JSON file of at most ${SKIN_BYTES_MAX} bytes`],
    })
  const text = readFileSync(file, 'utf8')
  try {
    return { shown, written: JSON.parse(text) }
  } catch {
    return { shown, written: text }
  }
}

const PUT_OFF_FILE = 'put-off.json'
const PutOffs = shaped(['[', { instance: 's', id: 's', 'until?': 'i', said: 's' }])

/**
 * Reads and writes the file of items that were snoozed in cockpits on this machine. If it is unreadable, all items are
 * shown. If it cannot be written, snoozing lasts until the cockpit closes.
 */
export function putOffFile({ state }: Pick<Places, 'state'>): {
  readonly read: () => readonly PutOff[]
  readonly write: (list: readonly PutOff[]) => void
} {
  const path = join(state, PUT_OFF_FILE)
  return {
    read: () => attempt(() => readJson(path, PutOffs))?.slice(-PUT_OFF_MAX) ?? [],
    write: (list) => attempt(() => writeJson(path, list)),
  }
}

const Views = shaped(['{', { filters: ['{', 's'], sorts: ['{', 's'], putAway: ['{', ['[', 's']], views: ['{', 's'] }])

/** Saves the views and filters used at a marketplace, so that the next cockpit opens its lists in the same way. */
export function keptViewsFile({ state }: Pick<Places, 'state'>, place: string) {
  const path = join(state, 'cockpit-views.json')
  const read = (): Readonly<Record<string, KeptViews>> => attempt(() => readJson(path, Views)) ?? {}
  return {
    read: () => read()[place],
    write(kept: KeptViews): void {
      const others = Object.entries(read()).filter(([name]) => name !== place)
      attempt(() => writeJson(path, Object.fromEntries([...others, [place, kept]].slice(-KEPT_VIEWS_MAX))))
    },
  }
}
