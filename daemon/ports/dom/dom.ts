import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { z } from 'zod'
import type { Engine, EngineStanding } from '../engine.ts'

/** A library that parses pages without rendering. Load it on a worker thread. */
export type Dom = {
  /** Module to import. */
  readonly entry: string
  readonly version: string
}

const FIX =
  'npm install jsdom next to the program and set "dom": {} in the engines file; or set dom.jsdom to its folder'
const Manifest = z.object({ name: z.literal('jsdom'), version: z.string(), main: z.string() })

export type DomOptions = {
  /** Whether the operator allows jsdom, which checks less than a browser does. */
  readonly isAllowed: boolean
  /** Folder of the jsdom package (default: installed next to the program). */
  readonly folder?: string
}

/** Finds jsdom, which is not part of the program. */
export function openDom({ isAllowed, folder }: DomOptions): Engine<Dom> {
  const found = isAllowed ? lookedUp(folder) : undefined
  return { port: found ?? { entry: '', version: '' }, initial: standingOf(isAllowed, found) }
}

function standingOf(isAllowed: boolean, found: Dom | undefined): EngineStanding {
  if (found) return { status: 'ok', detail: `jsdom ${found.version}, used if there is no browser` }
  if (isAllowed) return { status: 'missing', detail: 'jsdom is not installed.', fix: FIX }
  return { status: 'unconfigured', detail: 'jsdom is needed only if there is no browser.', fix: FIX }
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
