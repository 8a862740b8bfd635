import { execFile } from 'node:child_process'
import type { Outcome } from '../client/link.ts'
import { isObject } from '../core/json.ts'
import { MINUTE_MS } from '../core/time.ts'
import { oneLine } from '../text/text.ts'
import type { CommandContext } from './command.ts'
import { splitWords } from './split-words.ts'

const RUN_MAX_MS = 2 * MINUTE_MS
const OUTPUT_BYTES_MAX = 1_000_000
const SAID_LINES = 3

type Host = CommandContext<unknown, unknown>
type LineWord = { readonly value: string; readonly summary: string }

/** The command line for the cockpit's palette: what there is, what may follow, and a process that runs it. */
export function createCommandLine(context: Host) {
  const commands = context.entries
    .filter(({ hidden, aliasOf }) => !hidden && aliasOf === undefined)
    .map(({ name, summary }) => ({ name, summary }))
  return {
    commands,
    split(line: string): readonly string[] | undefined {
      try {
        return line.trim() === '' ? [] : splitWords(line)
      } catch {
        return undefined
      }
    },
    complete: (words: readonly string[]) => complete(context, words),
    run: (words: readonly string[]) => run(context, words),
  }
}

/** The very answer that shells get. */
async function complete(context: Host, words: readonly string[]): Promise<readonly LineWord[]> {
  const { data } = await context.invoke(['__complete', '--scoped', '--', ...words]).catch(() => ({ data: undefined }))
  const found = isObject(data) && Array.isArray(data.candidates) ? data.candidates : []
  return found.flatMap((one) =>
    isObject(one) && typeof one.value === 'string' ? [{ value: one.value, summary: String(one.summary ?? '') }] : [],
  )
}

function run({ places, signal, system }: Host, words: readonly string[]): Promise<Outcome<string>> {
  const [program, ...first] = system.self
  const env = {
    ...system.env,
    SOUK_INSTANCE: places.instance,
    SOUK_CONFIG_DIR: places.config,
    ...(places.chosenData === undefined ? {} : { SOUK_DATA_DIR: places.chosenData }),
    NO_COLOR: '1',
  }
  const options = { env, signal, timeout: RUN_MAX_MS, maxBuffer: OUTPUT_BYTES_MAX, encoding: 'utf8' as const }
  return new Promise((resolve) => {
    const child = execFile(program, [...first, ...words], options, (error, out, err) => {
      const said = (text: string) => text.split('\n').map(oneLine).filter(Boolean)
      if (error === null) {
        resolve({ ok: true, value: said(out).slice(0, SAID_LINES).join('  ') || said(err).at(-1) || 'It is done.' })
        return
      }
      const [sentence = error.message, ...facts] = said(err)
      resolve({ ok: false, problem: { kind: 'failed', sentence: sentence.replace('✗ ', ''), facts, next: [] } })
    })
    child.stdin?.end()
  })
}
