import { closeSync, openSync, readSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, isAbsolute, join } from 'node:path'
import { AppError, errnoOf } from '../../../../../src/core/error.ts'
import { findProgram } from '../../../program/program.ts'

/** Architecture names in the npm package that differ from Node's. */
const MACHINES: Readonly<Record<string, string>> = { x64: 'amd64' }
const PACKAGE = '@foundry-rs/anvil'
const SCRIPT_MARK = '#!'

type Search = {
  /** The configured program. If given, nothing else is tried. */
  readonly given?: string | undefined
  /** Search path (default: that of this process). */
  readonly path?: string
  /** Module from which to resolve the package. */
  readonly from?: string
}

/**
 * Finds the chain program: configured, on the PATH, or in an installed package.
 * @throws AppError with the ways to install it
 */
export function findAnvil({ given, path, from = import.meta.url }: Search = {}): string {
  if (given !== undefined) {
    const named = isAbsolute(given) ? native(findProgram(given)) : undefined
    if (named !== undefined) return named
    throw new AppError('invalid_request', `--anvil ${given} is not an executable program: give the path of anvil.`)
  }
  const found = native(findProgram('anvil', path)) ?? installed(from)
  if (found !== undefined) return found
  throw new AppError(
    'invalid_request',
    `A devnet needs anvil, which is not on the PATH: npm install ${PACKAGE}, use --anvil PATH, or start without --chain devnet.`,
  )
}

/** Path of the native binary. The npm package's command is a script, whose child process would survive a kill. */
function native(program: string | undefined): string | undefined {
  if (program === undefined || !isScript(program)) return program
  return installed(realpathSync(program))
}

function isScript(program: string): boolean {
  const file = openSync(program, 'r')
  try {
    const start = Buffer.alloc(SCRIPT_MARK.length)
    readSync(file, start)
    return start.toString('latin1') === SCRIPT_MARK
  } finally {
    closeSync(file)
  }
}

function installed(from: string): string | undefined {
  const { platform, arch } = process
  try {
    const folder = dirname(createRequire(from).resolve(`${PACKAGE}-${platform}-${MACHINES[arch] ?? arch}/package.json`))
    return findProgram(join(folder, 'bin', platform === 'win32' ? 'anvil.exe' : 'anvil'))
  } catch (error) {
    if (errnoOf(error) === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}
