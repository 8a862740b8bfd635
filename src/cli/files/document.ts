import { closeSync, openSync, readSync } from 'node:fs'
import { errnoOf } from '../../core/error.ts'
import { isObject, type Json, parseJson } from '../../core/json.ts'
import { MAX_DELIVERY_BODY_BYTES } from '../../core/limits.ts'
import { usage } from '../exit.ts'

/** Size limit of a document: the daemon's largest request body. */
const DOCUMENT_BYTES_MAX = MAX_DELIVERY_BODY_BYTES
const READ_BYTES = 64 * 1024
/** Text that looks like JSON, but is invalid and longer than this, is not tried as YAML: that would take seconds. */
const MISTAKEN_CHARS_MAX = 256 * 1024
/** YAML that can express only JSON values: no tags, anchors, or YAML versions other than 1.2. */
const PLAIN_YAML = { version: '1.2', schema: 'core', resolveKnownTags: false, stringKeys: true } as const

type Stdin = { stdin(): Promise<string> }

/** Help text of an option that takes a file. */
export const DOCUMENT = 'YAML or JSON file'

/**
 * Reads YAML or JSON; `-` is stdin.
 * @throws CliError `usage` for a missing, too large or invalid file, or values outside JSON
 */
export async function readDocument(io: Stdin, file: string): Promise<Json> {
  if (file === '-') return parseDocument(await io.stdin(), 'stdin')
  return parseDocument(textOf(file), file)
}

/** Reads a YAML or JSON object; `what` names it in errors. @throws CliError `usage` */
export async function readObjectFile(io: Stdin, file: string, what: string): Promise<Record<string, unknown>> {
  const document = await readDocument(io, file)
  if (isObject(document)) return { ...document }
  throw usage(`${file === '-' ? 'stdin' : file} must contain ${what} as one YAML or JSON object.`)
}

/** Passes user input on unchecked: the instance validates it. */
export function unjudged<T extends object>(given: Readonly<Record<string, unknown>>): T {
  return given as T
}

/** Reads a file up to the size limit, in pieces, since the size of a pipe is unknown. @throws CliError `usage` */
export function textOf(file: string): string {
  let opened: number | undefined
  try {
    opened = openSync(file, 'r')
    const parts: Buffer[] = []
    for (let total = 0; total <= DOCUMENT_BYTES_MAX; ) {
      const part = Buffer.alloc(READ_BYTES)
      const bytes = readSync(opened, part)
      if (bytes === 0) return Buffer.concat(parts).toString('utf8')
      parts.push(part.subarray(0, bytes))
      total += bytes
    }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') throw usage(`There is no file ${file}.`)
    throw usage(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    if (opened !== undefined) closeSync(opened)
  }
  throw tooLarge(file)
}

function tooLarge(name: string): Error {
  return usage(`${name} is larger than ${DOCUMENT_BYTES_MAX} bytes.`)
}

/** Parses YAML or JSON; `name` is used in messages. @throws CliError `usage` */
export async function parseDocument(text: string, name: string): Promise<Json> {
  if (Buffer.byteLength(text) > DOCUMENT_BYTES_MAX) throw tooLarge(name)
  // Strip a BOM.
  const plain = text.replace(/^\uFEFF/, '')
  const { value } = jsonOf(plain, name) ?? { value: await yamlOf(plain, name) }
  const { copyJson } = await import('../../schema/copy.ts')
  const judge: (value: unknown) => asserts value is Json = (value) => {
    const copied = copyJson(value)
    if (copied.ok) return
    const [{ path, message } = { path: '', message: '' }] = copied.details
    throw usage(`${name} cannot be sent: ${path === '' ? 'it' : path} ${message}.`)
  }
  judge(value)
  return value
}

function jsonOf(text: string, name: string): { readonly value: Json } | undefined {
  try {
    return { value: parseJson(text) }
  } catch (cause) {
    const isMeant = /\.json$/i.test(name) || (/^\s*[{[]/.test(text) && text.length > MISTAKEN_CHARS_MAX)
    if (!isMeant) return undefined
    throw usage(`${name} is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

async function yamlOf(text: string, name: string): Promise<unknown> {
  const yaml = await import('./yaml.ts')
  const document = yaml.parseDocument(text, { ...PLAIN_YAML, prettyErrors: true, logLevel: 'error' })
  const [fault] = [...document.errors, ...document.warnings]
  if (fault !== undefined) throw neither(name, fault.message)
  const { version } = document.directives?.yaml ?? {}
  if (version !== undefined && version !== PLAIN_YAML.version) {
    throw neither(name, `YAML ${version} is not supported; write YAML ${PLAIN_YAML.version}`)
  }
  try {
    // Aliases are refused, since they can expand without limit.
    return document.toJS({ maxAliasCount: 0 })
  } catch (error) {
    const why = error instanceof ReferenceError ? 'it uses aliases (&name, *name): write the values out' : String(error)
    throw neither(name, why)
  }
}

function neither(name: string, fault: string): Error {
  const [sentence = ''] = fault.replace(/:\n[\s\S]*$/, '').split('\n')
  const why = /call stack/.test(sentence) ? 'it is nested too deep' : sentence
  return usage(`${name} is neither YAML nor JSON: ${why}`)
}
