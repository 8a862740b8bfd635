import type { Transport, TransportRequest, TransportResponse } from '../transport.ts'
import { createMasker, type Masker } from './masking.ts'

/** Longest header value and body shown, in characters. */
const SHOWN_VALUE_CHARS_MAX = 200
const SHOWN_BODY_CHARS_MAX = 4_000
/** Of a larger body only the size is shown. */
const SHOWN_BODY_BYTES_MAX = 512 * 1024

export type DebugLog = {
  /** Gets each line: `>` before what is sent, `<` before what is answered. */
  readonly line: (line: string) => void
  /** Headers that the transport sends with every request. */
  readonly headers: Readonly<Record<string, string>>
  /** Bodies are shown too. */
  readonly bodies: boolean
  /** Wall time, epoch milliseconds. */
  readonly now: () => number
}

/** A transport that reports each request and answer for `--debug`, without credentials. */
export function debugTransport(transport: Transport, to: DebugLog): Transport {
  const masker = createMasker()
  return async (request) => {
    logRequest(request, to, masker)
    const startedAt = to.now()
    const answer = await transport(request).catch((error: unknown) => {
      to.line(`< no answer: ${masker.text(error instanceof Error ? error.message : String(error))}`)
      throw error
    })
    to.line(`< ${answer.status} in ${to.now() - startedAt} ms`)
    logHeaders('<', answer.headers, { to, masker })
    return to.bodies ? onRead(answer, (text) => to.line(`< ${bodyOf(text, masker)}`)) : answer
  }
}

function logRequest(request: TransportRequest, to: DebugLog, masker: Masker): void {
  const given = Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])
  const headers: Record<string, string> = { ...to.headers, ...Object.fromEntries(given) }
  masker.remember(headers)
  to.line(`> ${request.method} ${masker.text(request.path)}`)
  logHeaders('>', headers, { to, masker })
  const { body } = request
  if (!to.bodies || body === undefined) return
  to.line(typeof body === 'string' ? `> ${bodyOf(body, masker)}` : '> a file')
}

type LogContext = { readonly to: DebugLog; readonly masker: Masker }

function logHeaders(sign: '>' | '<', headers: Readonly<Record<string, string>>, { to, masker }: LogContext): void {
  for (const [name, value] of Object.entries(headers)) {
    to.line(`${sign} ${masker.text(name)}: ${clipped(masker.header(name, value), SHOWN_VALUE_CHARS_MAX)}`)
  }
}

/** A body without its credentials: what is no JSON may hold them in any form, so only its size is shown. */
function bodyOf(text: string, masker: Masker): string {
  const bytes = Buffer.byteLength(text)
  const shown = bytes > SHOWN_BODY_BYTES_MAX ? undefined : masker.json(text)
  return shown === undefined ? `${bytes} bytes` : clipped(shown, SHOWN_BODY_CHARS_MAX)
}

function clipped(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}…` : text
}

/** An answer that reports its text once it is read. */
function onRead(answer: TransportResponse, report: (text: string) => void): TransportResponse {
  return {
    ...answer,
    async bytes() {
      const bytes = await answer.bytes()
      report(Buffer.from(bytes).toString('utf8'))
      return bytes
    },
    async text() {
      const text = await answer.text()
      report(text)
      return text
    },
  }
}
