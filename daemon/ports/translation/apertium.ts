import type { EngineStanding } from '../engine.ts'
import { openProgram, ProgramError, programStanding } from '../program/program.ts'
import type { Segment } from './segments.ts'

const MAX_OUT_BYTES = 1024 * 1024
export type Apertium = ReturnType<typeof openApertium>

/** Opens local translation between installed language pairs. @param path folders to search */
export function openApertium(path?: string) {
  const program = openProgram('apertium', path === undefined ? {} : { path })
  /** Mode by `from-to`. */
  let modes: ReadonlyMap<string, string> = new Map()
  let version = 'unknown'

  async function probe(): Promise<EngineStanding> {
    const found = await programStanding(program, { versionArgs: ['-V'], package: 'apertium' })
    modes = new Map()
    if (found.status !== 'ok')
      return { ...found, fix: 'install apertium and a language pair, such as apertium-eng-spa' }
    version = /(\d+\.\d+\S*)/.exec(found.detail)?.[1] ?? version
    modes = modesIn((await program.run({ args: ['-l'], maxBytes: MAX_OUT_BYTES })).stdout.toString('utf8'))
    if (modes.size > 0) return { ...found, detail: `apertium ${version}: ${[...modes.keys()].join(', ')}` }
    return {
      status: 'missing',
      detail: 'apertium has no languages.',
      fix: 'install a language pair, such as apertium-eng-spa',
    }
  }

  return {
    probe,
    version: () => version,
    pairs: () => [...modes.keys()],
    targets: () => [...new Set([...modes.keys()].map((pair) => pair.replace(/^.*-/, '')))],
    pairOf: (from: string, to: string) => modes.get(`${from}-${to}`),
    translate: async (segments: readonly Segment[], mode: string, signal: AbortSignal) => {
      // The HTML format preserves the parts to keep, but worsens the word order. Use it only if there are such parts.
      const isMarked = segments.some(isToStay)
      const stdin = segments.map((one) => (isMarked ? markedUp(one) : one.text)).join('')
      const args = ['-u', ...(isMarked ? ['-f', 'html'] : []), mode]
      const { stdout } = await program.run({ args, stdin, maxBytes: MAX_OUT_BYTES, signal })
      const said = isMarked ? plain(stdout.toString('utf8')) : stdout.toString('utf8')
      // Where a word has no counterpart, its two spaces stay.
      const made = / {2}/.test(stdin) ? said : said.replace(/ {2,}/g, ' ')
      // The exit code does not show failed stages.
      if (made.trim() === '') throw new ProgramError('refused', 'apertium returned an empty translation')
      return made
    },
  }
}

const STAY = 'apertium-notrans'

function isToStay({ text, isKept }: Segment): boolean {
  return isKept && /[\p{L}\p{N}]/u.test(text)
}

function markedUp(segment: Segment): string {
  const text = segment.text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return isToStay(segment) ? `<${STAY}>${text}</${STAY}>` : text
}

function plain(html: string): string {
  const text = html.replaceAll(`<${STAY}>`, '').replaceAll(`</${STAY}>`, '')
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}

/** Parses the list of modes. The first variant of a pair is the default. */
function modesIn(list: string): Map<string, string> {
  const modes = new Map<string, string>()
  for (const line of list.split('\n')) {
    const [, from = '', to = ''] = /^\s*([a-z]{2,3})-([a-z]{2,3})(?:_\w+)?\s*$/.exec(line) ?? []
    const pair = `${shortCode(from)}-${shortCode(to)}`
    if (from !== '' && !modes.has(pair)) modes.set(pair, line.trim())
  }
  return modes
}

/** ISO 639-1 for ISO 639-3; other codes stay. CLDR has no language for Serbo-Croatian, which is `sh`. */
function shortCode(code: string): string {
  if (code.length < 3) return code
  return code === 'hbs' ? 'sh' : (Intl.getCanonicalLocales(code)[0] ?? code)
}
