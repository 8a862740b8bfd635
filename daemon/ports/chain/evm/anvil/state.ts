import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { z } from 'zod'
import { AppError } from '../../../../../src/core/error.ts'
import { readWhole, realDisk, replaceFile } from '../../../../store/disk.ts'

/** What the daemon keeps of its chain while both run: always a whole one. */
const KEPT = 'chain.json'
/** What the chain itself writes when it is ended in order, which can be cut short. */
const LAST = 'chain.last.json'

const State = z.object({ best_block_number: z.union([z.int(), z.string().transform(Number)]) })

/**
 * The chain of a data folder on disk. The program would write its own file over in place, and a crash in the middle
 * would leave no chain at all: so it is asked for its state, and that is put in place at once.
 */
export type KeptState = {
  /** Where the chain writes itself out at an orderly end. */
  readonly dump: string
  /** The newest whole state as a file to begin with; undefined where there is none. @throws AppError on a damaged one. */
  readonly newest: () => Promise<string | undefined>
  /** @param dumped - as `anvil_dumpState` answers: a packed JSON, in hex */
  readonly keep: (dumped: string) => Promise<void>
}

export function keptState(folder: string): KeptState {
  const kept = `${folder}/${KEPT}`
  const dump = `${folder}/${LAST}`
  return {
    dump,
    newest: async () => {
      const [before, last] = [await headOf(kept), await headOf(dump)]
      if (last !== undefined && last >= (before ?? 0)) await realDisk.rename(dump, kept)
      else await realDisk.remove(dump)
      if ((await realDisk.stat(kept)) === undefined) return undefined
      if ((await headOf(kept)) !== undefined) return kept
      throw new AppError('invalid_request', `${kept} is damaged, and with it the devnet: begin anew with souk reset.`)
    },
    keep: async (dumped) => {
      const json = await promisify(gunzip)(Buffer.from(dumped.slice(2), 'hex'))
      await replaceFile(realDisk, { dir: folder, name: KEPT }, json.toString('utf8'))
    },
  }
}

/** Number of the last block of a state on disk; undefined where there is no whole one. */
async function headOf(file: string): Promise<number | undefined> {
  const bytes = await readWhole(realDisk, file)
  if (bytes === undefined) return undefined
  try {
    return State.parse(JSON.parse(bytes.toString('utf8'))).best_block_number
  } catch {
    return undefined
  }
}
