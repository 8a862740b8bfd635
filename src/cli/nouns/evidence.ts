import { existsSync } from 'node:fs'
import { chmod, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { WireAnswer } from '../../api/index.ts'
import { localName } from '../../client/download.ts'
import { PRIVATE_FILE_MODE } from '../../client/files.ts'
import { wireId } from '../../client/wire-id.ts'
import { AppError } from '../../core/error.ts'
import { makeFolder } from '../../core/folder.ts'
import type { CommandContext } from '../command.ts'
import { download } from '../files/transfer.ts'
import { type Session, wouldDo } from '../session.ts'

type Attached = WireAnswer<'getJobBundle'>['files'][number]

export type SavedEvidence = {
  readonly file_id: string
  readonly file: string
  readonly size_bytes: number
  readonly sha256: string
}

/**
 * Downloads a conversation's files, readable by the owner only. The instance logs each download.
 * @throws AppError `internal` if a file's hash is wrong
 */
export async function saveEvidence(
  host: Pick<CommandContext<unknown, unknown>, 'io' | 'globals'>,
  session: Session,
  { files, dir }: { readonly files: readonly Attached[]; readonly dir: string },
): Promise<SavedEvidence[]> {
  wouldDo(host.globals, `download ${files.length} files to ${dir}`)
  const targets = files.map((file) => ({ ...file, target: join(dir, nameOf(file)) }))
  const there = targets.filter(({ target }) => existsSync(target))
  if (there.length > 0) await host.io.confirm(`Replace ${there.length} files in ${host.io.path(dir)}?`)
  makeFolder(dir)
  const headers = await session.adminHeaders()
  const saved: SavedEvidence[] = []
  for (const { file_id, thread_id, sha256, target } of targets) {
    const params = { id: wireId('thread', thread_id), fileId: wireId('file', file_id) }
    const asked = { params, headers }
    const wanted = { endpoint: 'downloadThreadFile', asked, output: target, otherwise: file_id, agreed: true } as const
    const kept = await download(host, session, wanted)
    if (kept.sha256 !== sha256) {
      await rm(target, { force: true })
      throw new AppError('internal', `File ${file_id} differs from the evidence bundle: its SHA-256 is ${kept.sha256}.`)
    }
    await chmod(target, PRIVATE_FILE_MODE)
    saved.push({ file_id, file: target, size_bytes: kept.size_bytes, sha256 })
  }
  return saved
}

/** Two files can have the same name, so the id is part of the saved name. */
function nameOf({ file_id, name }: Attached): string {
  return localName(`${file_id}-${name}`, localName(file_id, 'file'))
}
