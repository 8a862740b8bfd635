import type { Asked } from '../../client/call.ts'
import { replaceFile } from '../../client/files.ts'
import { bold, byteSize, green, red } from '../../text/text.ts'
import { parseAnswer } from '../answer.ts'
import type { CommandContext } from '../command.ts'
import type { Io } from '../io.ts'

/** Endpoints that publish a document. */
type DocumentEndpoint = 'getEvidence' | 'getFeedbackFile'

export type WantedDocument<K extends DocumentEndpoint> = {
  readonly endpoint: K
  readonly asked: Asked<K>
  /** Name that the bytes must have; by default the one that the instance says they have. */
  readonly hash?: string
}

/** A published document as its bytes are: `ok` is null unless they were checked. */
export type ShownDocument = {
  readonly hash: string
  readonly computed: string | null
  readonly ok: boolean | null
  readonly bytes: number
  readonly saved: string | null
  /** as it was published, in the words of whoever wrote it: what counts is its hash */
  readonly document: unknown
}

type Options = { readonly check: boolean; readonly save?: string | undefined }

/** Fetches a document byte by byte, and hashes it where that was asked for. @throws AppError not_found */
export async function readDocument<K extends DocumentEndpoint>(
  context: CommandContext<unknown, Options>,
  wanted: WantedDocument<K>,
): Promise<ShownDocument> {
  const session = await context.session()
  const response = await session.open(wanted.endpoint, wanted.asked)
  const bytes = await response.bytes()
  const text = new TextDecoder().decode(bytes)
  const { headers } = response
  const hash = wanted.hash ?? headers.etag?.replaceAll('"', '') ?? ''
  const { check, save } = context.options
  const computed = check ? (await import('../../core/keccak.ts')).keccak256(bytes) : null
  if (computed !== null && computed !== hash) context.exit('check_failed')
  if (save !== undefined) replaceFile(save, bytes)
  return {
    hash,
    computed,
    ok: computed === null ? null : computed === hash,
    bytes: bytes.length,
    saved: save ?? null,
    document: parsed(text),
  }
}

function parsed(text: string): unknown {
  // What is no JSON is shown as it is: an answer of something between here and the instance.
  return (parseAnswer(text) ?? { value: text }).value
}

export function showDocument({ hash, computed, ok, bytes, saved, document }: ShownDocument, io: Io): void {
  io.line(`${bold(hash)}   ${byteSize(bytes)}`)
  if (ok === true) io.line(`${green('✓')} keccak-256 of its bytes is its name`)
  if (ok === false) io.line(`${red('✗')} keccak-256 of its bytes is ${computed}`)
  if (saved !== null) io.line(`  saved     ${io.path(saved)}`)
  io.line(JSON.stringify(document, null, 2))
}
