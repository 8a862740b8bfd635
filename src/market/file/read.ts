import { CliError, usage } from '../../cli/exit.ts'
import { parseDocument, textOf } from '../../cli/files/document.ts'
import type { Io } from '../../cli/io.ts'
import { faultsOf, MAX_SEED_BYTES, SeedFile } from './shape.ts'

const STDIN = '-'
const MAX_SHOWN = 10

/** Reads a seed file whole. @throws CliError usage that names every field that is wrong. */
export async function checkedSeed(io: Pick<Io, 'stdin'>, file: string): Promise<SeedFile> {
  const text = file === STDIN ? await io.stdin() : textOf(file)
  if (Buffer.byteLength(text) > MAX_SEED_BYTES) throw usage(`${file} is longer than ${MAX_SEED_BYTES / 1024} KiB.`)
  const document = await parseDocument(text, file)
  const faults = faultsOf(document)
  if (faults.length === 0) return SeedFile.parse(document)
  throw new CliError('usage', `${file} is not a valid seed file; nothing was done.`, {
    facts: faults.slice(0, MAX_SHOWN).map(({ path, message }) => `${path}: ${message}`),
    next: ['souk help seed load'],
  })
}
