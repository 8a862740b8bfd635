import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { queryText } from '../../client/call.ts'
import { writePrivate } from '../../client/files.ts'
import { isSecretHeader } from '../../client/transport.ts'
import { shellWord } from '../../text/shell.ts'
import type { CommandContext } from '../command.ts'
import type { RawCall, Session } from '../session.ts'

const NAME_DIGITS = 12

/** A request as a command for a shell, and the file that its credentials lie in. */
export type CurlLine = { readonly curl: string; readonly credentials: string | null }

type Host = Pick<CommandContext<unknown, unknown>, 'places'>

/**
 * A request as a line that can be pasted. Credentials are in no word of it, where others on the machine could read them
 * and shells would keep them: curl reads them from a file that only its owner may open.
 */
export function curlOf({ places }: Host, { target }: Session, call: RawCall): CurlLine {
  const { method, path, query, headers = {}, body } = call
  const all = Object.entries({ ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) })
  const secret = all.filter(([name]) => isSecretHeader(name)).map(headerLine)
  const credentials = secret.length === 0 ? null : keptIn(places.config, secret)
  const words = [
    'curl',
    // A bracket in an address is one, and no pattern.
    '--globoff',
    ...methodWords(method),
    ...all.filter(([name]) => !isSecretHeader(name)).flatMap((header) => ['-H', headerLine(header)]),
    ...(credentials === null ? [] : ['-H', `@${credentials}`]),
    ...(body === undefined ? [] : ['--data-binary', JSON.stringify(body)]),
    target.url + path + queryText(query),
  ]
  return { curl: words.map(shellWord).join(' '), credentials }
}

function methodWords(method: RawCall['method']): readonly string[] {
  if (method === 'HEAD') return ['--head']
  return method === 'GET' ? [] : ['-X', method]
}

function headerLine([name, value]: [string, string]): string {
  return `${name}: ${value}`
}

/** The same credentials lie in the same file: a line that was kept still runs. */
function keptIn(folder: string, lines: readonly string[]): string {
  const text = `${lines.join('\n')}\n`
  const name = createHash('sha256').update(text).digest('hex').slice(0, NAME_DIGITS)
  const file = join(folder, 'curl', `${name}.headers`)
  writePrivate(file, text)
  return file
}
