import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { queryText } from '../../../client/call.ts'
import { writePrivate } from '../../../client/files.ts'
import { PinMismatch, pinnedKey } from '../../../client/pin.ts'
import { isSecretHeader, REQUEST_TIMEOUT_MS, readOnTheWay, TransportError } from '../../../client/transport.ts'
import { shellWord } from '../../../text/text.ts'
import type { CommandContext } from '../../command.ts'
import type { RawCall, Session } from '../../session.ts'
import { readable, type Target, unreachable } from '../../target.ts'

const NAME_DIGITS = 12

/** A request as a command for a shell, and the file that its credentials lie in. */
export type CurlLine = { readonly curl: string; readonly credentials: string | null }

type Host = Pick<CommandContext<unknown, unknown>, 'places' | 'signal' | 'globals'>

/**
 * A request as a line that can be pasted. Credentials are in no word of it, where others on the machine could read them
 * and shells would keep them: curl reads them from a file that only its owner may open. A pinned certificate is held to
 * by its key.
 * @throws CliError auth for a credential that anybody on the way could read, and where another certificate is shown
 */
export async function curlOf(host: Host, { target }: Session, call: RawCall): Promise<CurlLine> {
  const { places } = host
  const { method, path, query, headers = {}, body } = call
  if (readOnTheWay(target.url, Object.keys(headers), target.inTheClear)) throw readable(target)
  const all = Object.entries({ ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) })
  const secret = all.filter(([name]) => isSecretHeader(name)).map(headerLine)
  const credentials = secret.length === 0 ? null : keptIn(places.config, secret)
  const words = [
    'curl',
    // A bracket in an address is one, and no pattern.
    '--globoff',
    ...(await pinWords(host, target)),
    ...methodWords(method),
    ...all.filter(([name]) => !isSecretHeader(name)).flatMap((header) => ['-H', headerLine(header)]),
    ...(credentials === null ? [] : ['-H', `@${credentials}`]),
    ...(body === undefined ? [] : ['--data-binary', JSON.stringify(body)]),
    target.url + path + queryText(query),
  ]
  return { curl: words.map(shellWord).join(' '), credentials }
}

/** No authority vouches for it, and nobody but the holder of its key is spoken to: curl checks that all the same. */
async function pinWords({ signal, globals }: Host, target: Target): Promise<readonly string[]> {
  const { url, fingerprint } = target
  if (fingerprint === undefined) return []
  const patience = { timeoutMs: globals.timeoutMs ?? REQUEST_TIMEOUT_MS, signal }
  const key = await pinnedKey(new URL(url), fingerprint, patience).catch((error: unknown) => {
    throw unreachable(new TransportError(error instanceof PinMismatch ? 'untrusted' : 'broken', url, error), target)
  })
  return ['--insecure', '--pinnedpubkey', `sha256//${key}`]
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
