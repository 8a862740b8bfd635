import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { usage } from '../cli/exit.ts'
import { EngineConfig } from '../model/engine-config.ts'

/** Reads the engines file, which may hold keys: nothing of it is ever shown. @throws CliError that names the member. */
export function readEngines(file: string): EngineConfig {
  const path = resolve(file)
  const parsed = EngineConfig.safeParse(json(path))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw usage(`${path}: ${issue?.path.join('.') || 'the file'}: ${issue?.message ?? 'is not valid'}`)
}

function json(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) throw usage(`${path} is no JSON.`)
    throw usage(`${path} cannot be read.`)
  }
}
