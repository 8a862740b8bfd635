import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { CliError, usage } from '../cli/exit.ts'
import { EngineConfig } from '../model/engines/config.ts'
import type { Launch } from './launch.ts'

/**
 * Reads the engines file, which may contain keys. Called before anything is started or stopped.
 * @returns undefined if no file is set.
 * @throws CliError usage that names the faulty member
 */
export function readEngines({ engines }: Pick<Launch, 'engines'>): EngineConfig | undefined {
  if (engines === undefined) return undefined
  const path = resolve(engines)
  const parsed = EngineConfig.safeParse(jsonIn(path))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new CliError('usage', `${path}: ${issue?.path.join('.') || 'the file'}: ${issue?.message ?? 'is not valid'}`, {
    facts: ['nothing was started'],
    next: ['fix the file, or omit --engines: services that need an engine are then not offered'],
  })
}

function jsonIn(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) throw usage(`${path} is not JSON.`)
    throw usage(`${path} cannot be read.`)
  }
}
