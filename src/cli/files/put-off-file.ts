import { join } from 'node:path'
import { readJson, shaped, writeJson } from '../../client/files.ts'
import type { Places } from '../../client/paths.ts'
import { PUT_OFF_MAX, type PutOff } from '../../model/cockpit-files.ts'

const FILE = 'put-off.json'
const Kept = shaped(['[', { instance: 's', id: 's', 'until?': 'i', said: 's' }])

/**
 * What was put off in cockpits of this machine. A file that cannot be read hides nothing: all of it is seen again. One
 * that cannot be written is no reason for a cockpit to break; then it lasts as long as the cockpit is open.
 */
export function putOffFile({ state }: Pick<Places, 'state'>): {
  readonly read: () => readonly PutOff[]
  readonly write: (list: readonly PutOff[]) => void
} {
  const path = join(state, FILE)
  return {
    read: () => tried(() => readJson(path, Kept))?.slice(-PUT_OFF_MAX) ?? [],
    write: (list) => tried(() => writeJson(path, list)),
  }
}

function tried<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}
