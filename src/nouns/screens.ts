import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../core/json.ts'

/*
 * Screens of the cockpit: a folder of `src/tui` with a `screen.ts`, or a noun with a `screen`. The build stores these
 * lists, so that the program reads no folder.
 */

/** A screen's name: its folder, or the plural of its noun. */
export type ScreenId = string

/** Screens with a tab, in order: keys 1 to 9. */
export const tabIds = ['overview', 'services', 'jobs', 'threads', 'crons', 'endpoints', 'money', 'compliance', 'logs']

/** Nouns with a screen: its id and command, the noun's file, and its name there. */
export const nounScreens = await nounsWithScreen()

const folder = join(import.meta.dirname, '../tui')
const isScreen = (name: string) => name !== 'shell' && existsSync(join(folder, name, 'screen.ts'))
const found = [...readdirSync(folder).filter(isScreen), ...nounScreens.map(({ id }) => id)]

/** All screens: those with a tab, then the others by name. */
export const screenIds: readonly ScreenId[] = [...new Set([...tabIds, ...found.toSorted()])]

async function nounsWithScreen() {
  const files = readdirSync(import.meta.dirname).filter((file) => file !== 'screens.ts' && /^[^.]+\.ts$/.test(file))
  const found = files.map(async (file) => {
    const exported: Readonly<Record<string, unknown>> = await import(join(import.meta.dirname, file))
    return Object.entries(exported).flatMap(([name, noun]) =>
      isObject(noun) && isObject(noun.screen)
        ? [{ id: String(noun.plural), command: String(noun.screen.command), file, name }]
        : [],
    )
  })
  return (await Promise.all(found)).flat()
}
