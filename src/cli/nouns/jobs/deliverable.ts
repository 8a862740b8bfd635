import { join } from 'node:path'
import { addFile } from '../../../client/files.ts'
import { wireId } from '../../../client/wire-id.ts'
import { makeFolder } from '../../../core/folder.ts'
import { isObject } from '../../../core/json.ts'

/** Base64 that is shorter than this is shown as text, not saved as a file. */
const FILE_CHARS_MIN = 64

const signatures: readonly (readonly [extension: string, bytes: readonly number[]])[] = [
  ['png', [0x89, 0x50, 0x4e, 0x47]],
  ['jpg', [0xff, 0xd8, 0xff]],
  ['pdf', [0x25, 0x50, 0x44, 0x46]],
  ['mp3', [0x49, 0x44, 0x33]],
  ['mp3', [0xff, 0xfb]],
  ['mp3', [0xff, 0xf3]],
  ['wav', [0x52, 0x49, 0x46, 0x46]],
]

export type SavedFile = { readonly file: string; readonly bytes: number }
type Found = { readonly name: string; readonly data: Uint8Array; readonly extension: string }

/** Maximum number of files saved per result. The JSON file with the whole result is saved in addition. */
const SAVED_FILES_MAX = 1_000

/**
 * Saves a result: its embedded files (base64, data URL, SVG), and the whole result as JSON. File names are made of ids
 * and member names only. An existing file is never changed: if its content differs, the new file gets a free name.
 * Links are not followed.
 * @throws AppError `internal` for an invalid id
 */
export function saveResult(folder: string, job: string, result: unknown): readonly SavedFile[] {
  const id = wireId('job', job)
  makeFolder(folder)
  const json: Found = { name: 'result', data: Buffer.from(`${JSON.stringify(result, null, 2)}\n`), extension: 'json' }
  return [...filesIn(result).slice(0, SAVED_FILES_MAX), json].map(({ name, data, extension }, i, all) => {
    const twin = all.findIndex((other) => other.name === name && other.extension === extension)
    const stem = join(folder, `${id}-${name}${twin === i ? '' : `-${i}`}`)
    return {
      file: addFile((again) => `${stem}${again === 0 ? '' : `.${again}`}.${extension}`, data),
      bytes: data.byteLength,
    }
  })
}

function filesIn(value: unknown, name = 'result'): readonly Found[] {
  if (Array.isArray(value)) return value.flatMap((element) => filesIn(element, name))
  if (isObject(value)) {
    return Object.entries(value).flatMap(([member, inner]) => {
      const document = typeof inner === 'string' ? documentOf(member, inner, { holder: value, name }) : undefined
      return document ? [document] : filesIn(inner, PLAIN_MEMBERS.includes(member) ? name : safeName(member))
    })
  }
  return typeof value === 'string' ? fileOf(value, name) : []
}

type Held = { readonly holder: { readonly [name: string]: unknown }; readonly name: string }

/** The file for a text member that is Markdown or an OpenAPI description; undefined for any other text. */
function documentOf(member: string, text: string, { holder, name }: Held): Found | undefined {
  const data = Buffer.from(text)
  const markdown = /^(.*?)_?markdown$/.exec(member)
  if (markdown) return { name: markdown[1] ? safeName(markdown[1]) : name, data, extension: 'md' }
  const { openapi, format } = holder
  if (member !== 'document' || typeof openapi !== 'string') return undefined
  return { name: 'openapi', data, extension: format === 'yaml' ? 'yaml' : 'json' }
}

/** Member names that say nothing about the content. A file in such a member is named after the parent member. */
const PLAIN_MEMBERS = ['content', 'data', 'base64', 'body', 'file']

function safeName(member: string): string {
  return (
    member
      .replace(/_?base64$/i, '')
      .replace(/[^A-Za-z0-9_-]/g, '_')
      .slice(0, 60) || 'file'
  )
}

function fileOf(text: string, name: string): readonly Found[] {
  const embedded = /^data:([\w.+/-]+);base64,/.exec(text)
  const base64 = embedded ? text.slice(embedded[0].length) : text
  if (/^\s*(<\?xml[^>]*>\s*)?<svg[\s>]/.test(text)) return [{ name, data: Buffer.from(text), extension: 'svg' }]
  if (base64.length < FILE_CHARS_MIN || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return []
  const data = Buffer.from(base64, 'base64')
  const known = signatures.find(([, bytes]) => bytes.every((byte, i) => data[i] === byte))
  if (known) return [{ name, data, extension: known[0] }]
  return embedded ? [{ name, data, extension: 'bin' }] : []
}

const SHOWN_CHARS_MAX = 200

/** A result as text for display, with long strings cut. */
export function shownResult(result: unknown): string {
  const shorten = (_name: string, value: unknown) =>
    typeof value === 'string' && value.length > SHOWN_CHARS_MAX
      ? `${value.slice(0, SHOWN_CHARS_MAX)}… (${value.length} characters)`
      : value
  return JSON.stringify(result, shorten, 2) ?? 'null'
}
