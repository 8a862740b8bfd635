import { join } from 'node:path'
import { readText } from '../../client/files.ts'
import type { Places } from '../../client/settings.ts'
import type { KeyFault, KeyWish } from '../../model/cockpit-files.ts'

const FILE = 'keys.json'
/** Size limit of the key file, far above what keys for all actions need. */
const CHARS_MAX = 64 * 1_024

type Written = { readonly wishes: readonly KeyWish[]; readonly faults: readonly KeyFault[] }

/** Custom keys of the cockpit; undefined without the file. An unreadable file is returned as a fault. */
export async function readKeyFile({
  config,
}: Pick<Places, 'config'>): Promise<(Written & { readonly file: string }) | undefined> {
  const file = join(config, FILE)
  try {
    const text = readText(file)?.replace(/^\uFEFF/, '')
    return text === undefined ? undefined : { file, ...(await written(text)) }
  } catch (error) {
    return { file, wishes: [], faults: [{ line: 1, words: error instanceof Error ? error.message : String(error) }] }
  }
}

/** Parses the file as YAML, which includes JSON and gives line numbers. */
async function written(text: string): Promise<Written> {
  const fault = (line: number, words: string): Written => ({ wishes: [], faults: [{ line, words }] })
  if (text.length > CHARS_MAX) return fault(1, `it is longer than ${CHARS_MAX} characters`)
  const { isMap, isNode, isScalar, LineCounter, parseDocument } = await import('./yaml.ts')
  const lines = new LineCounter()
  const document = parseDocument(text, { version: '1.2', lineCounter: lines, prettyErrors: false, logLevel: 'error' })
  const [wrong] = document.errors
  if (wrong !== undefined) return fault(lines.linePos(wrong.pos[0]).line, wrong.message)
  const { contents } = document
  if (!isMap(contents)) return fault(1, 'it is not an object: { "refresh": ["F", "ctrl-r"] }')
  const wishes = contents.items.map(({ key, value }) => ({
    act: isScalar(key) ? String(key.value) : '',
    keys: isNode(value) ? value.toJS(document, { maxAliasCount: 0 }) : undefined,
    line: isScalar(key) ? lines.linePos(key.range?.[0] ?? 0).line : 1,
  }))
  return { wishes, faults: [] }
}
