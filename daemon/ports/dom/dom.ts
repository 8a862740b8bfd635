import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { z } from 'zod'
import type { Engine, EngineStanding } from '../engine.ts'

/** A library that reads pages as a browser does, without showing them; whoever works with it loads it on a thread. */
export type Dom = {
  /** File to import. */
  readonly entry: string
  readonly version: string
}

const FIX = 'npm install jsdom beside the program, and "dom": {} in the engines file; or dom.jsdom: its folder'
const Manifest = z.object({ name: z.literal('jsdom'), version: z.string(), main: z.string() })

export type DomOptions = {
  /** Only whoever runs the marketplace says that so weak an engine is good enough. */
  readonly isAllowed: boolean
  /** Folder of the package; looked for beside the program otherwise. */
  readonly folder?: string
}

/** Finds jsdom, which is never shipped. */
export function openDom({ isAllowed, folder }: DomOptions): Engine<Dom> {
  const found = isAllowed ? lookedUp(folder) : undefined
  return { port: found ?? { entry: '', version: '' }, initial: standingOf(isAllowed, found) }
}

function standingOf(isAllowed: boolean, found: Dom | undefined): EngineStanding {
  if (found) return { status: 'ok', detail: `jsdom ${found.version}, for pages that no browser shows` }
  if (isAllowed) return { status: 'missing', detail: 'There is no jsdom here.', fix: FIX }
  return { status: 'unconfigured', detail: 'It is wanted only where no browser is there.', fix: FIX }
}

function lookedUp(folder: string | undefined): Dom | undefined {
  try {
    const file =
      folder === undefined ? createRequire(import.meta.url).resolve('jsdom/package.json') : join(folder, 'package.json')
    const { main, version } = Manifest.parse(JSON.parse(readFileSync(file, 'utf8')))
    return { entry: join(file, '..', main), version }
  } catch {
    return undefined
  }
}
