import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivate } from '../../client/files.ts'
import { AppError } from '../../core/error.ts'
import { isObject } from '../../core/json.ts'
import { harmless } from '../../text/text.ts'
import type { CommandContext } from '../command.ts'
import { CliError, usage } from '../exit.ts'
import { splitWords } from '../split-words.ts'
import { parseDocument } from './document.ts'

/** Maximum number of times that a draft is opened. */
const ROUNDS_MAX = 20
const DRAFT_BYTES_MAX = 1024 * 1024
const FALLBACK = 'vi'

type Context = Pick<CommandContext<unknown, unknown>, 'io' | 'system'>
type Document = Readonly<Record<string, unknown>>

type Drafting<T> = {
  /** Name of the draft's file, without `.yaml`. */
  readonly name: string
  readonly text: string
  /** Uses the edited document. After an AppError or a usage error of this function, the draft can be opened again. */
  readonly take: (document: Document) => Promise<T>
}

/**
 * Opens a draft in $VISUAL or $EDITOR. Shows faults and offers to open the draft again. If the user gives up, the draft
 * is kept and its path is shown.
 * @throws CliError `usage` without a terminal; `cancelled` for an empty draft; whatever `take` throws
 */
export async function inEditor<T>(host: Context, { name, text, take }: Drafting<T>): Promise<T> {
  const { io, system } = host
  if (!io.isTty || !io.canAsk) throw usage('An editor needs a terminal.', { next: ['… --help'] })
  const folder = mkdtempSync(join(system.tmpDir, 'souk-draft-'))
  const file = join(folder, `${name}.yaml`)
  writePrivate(file, text)
  for (let round = 1; ; round += 1) {
    try {
      await openEditor(system, file)
      const taken = await take(await documentIn(file))
      rmSync(folder, { recursive: true, force: true })
      return taken
    } catch (error) {
      await openAgain(host, { error, file, round })
    }
  }
}

type Failed = { readonly error: unknown; readonly file: string; readonly round: number }

/**
 * Shows the fault and asks whether to open the draft again.
 * @throws the fault, with the draft's path, if the user declines
 */
async function openAgain({ io }: Context, { error, file, round }: Failed): Promise<void> {
  if (!isCorrectable(error) || round >= ROUNDS_MAX) throw kept(error, file)
  for (const line of faultsOf(error)) io.warn(harmless(line))
  try {
    await io.confirm('Open it again?')
  } catch {
    throw kept(error, file)
  }
}

async function openEditor(system: Context['system'], file: string): Promise<void> {
  const editor = system.env.VISUAL || system.env.EDITOR || FALLBACK
  const [program, ...words] = splitWords(editor)
  if (await system.foreground([program, ...words, file])) return
  throw new CliError('failure', `There is no editor ${program}.`, { facts: ['set $VISUAL or $EDITOR to an editor'] })
}

async function documentIn(file: string): Promise<Document> {
  const text = readFileSync(file, 'utf8')
  if (text.length > DRAFT_BYTES_MAX) throw usage(`The draft is larger than ${DRAFT_BYTES_MAX} bytes.`)
  if (text.trim() === '') throw new CliError('cancelled', 'The draft is empty; nothing was done.')
  const document = await parseDocument(text, 'What you wrote')
  // The draft has only comments, so it counts as an empty document; the caller decides what that means.
  if (document === null) return {}
  if (isObject(document)) return document
  throw usage('The draft must contain fields, one per line: "name: value".')
}

function isCorrectable(error: unknown): error is AppError | CliError {
  if (error instanceof CliError) return error.exit === 'usage'
  return error instanceof AppError && error.status >= 400 && error.status < 500 && error.code !== 'unauthorized'
}

function faultsOf(error: AppError | CliError): readonly string[] {
  const more =
    error instanceof CliError ? error.facts : (error.details ?? []).map(({ path, message }) => `${path} ${message}`)
  return [`✗ ${error.message}`, ...more.filter((line) => !error.message.includes(line)).map((line) => `  ${line}`)]
}

/** Adds the draft's path to an error. If the edit was cancelled, deletes the draft and returns the error as is. */
function kept(error: unknown, file: string): unknown {
  if (error instanceof CliError && error.exit === 'cancelled') {
    rmSync(join(file, '..'), { recursive: true, force: true })
    return error
  }
  const exit = error instanceof CliError ? error.exit : 'usage'
  const message = error instanceof Error ? error.message : String(error)
  const facts = error instanceof CliError ? error.facts : []
  return new CliError(exit, message, { facts: [...facts, `the draft is saved: ${file}`], cause: error })
}
