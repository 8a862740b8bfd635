import type { Socket } from 'node:net'
import { AppError } from '../../src/core/error.ts'
import type { Entropy } from '../../src/core/hex.ts'
import { idPrefixes } from '../../src/core/id-prefixes.ts'
import { errorDocument } from '../endpoint/error-document.ts'
import type { RequestLog } from '../features/story/requests.ts'
import type { Context } from '../kernel/context.ts'

const REQUEST_ID_BYTES = 8
const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

export function newRequestId({ entropy }: Pick<Context, 'entropy'>): string {
  return `${idPrefixes.request}${entropy(REQUEST_ID_BYTES).toString('hex')}`
}

/**
 * Responds to connections without a valid request (unparsable, too slow, headers too large), in the common error form.
 */
export function answerBrokenRequest(
  entropy: Entropy,
  isAnswering: (socket: Socket) => boolean,
  log?: RequestLog,
): (error: NodeJS.ErrnoException, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    if (isAnswering(socket)) {
      socket.destroySoon() // a second answer would be read as a part of the first
      return
    }
    const refusal = refusalOf(error.code)
    const requestId = newRequestId({ entropy })
    const entry = log?.begin({ id: requestId, method: '?', path: '?', attempt: null })
    if (entry) {
      entry.code = refusal.code
      log?.end(entry, refusal.status)
    }
    const body = JSON.stringify(errorDocument(refusal, requestId))
    const head = [
      `HTTP/1.1 ${refusal.status} ${reasons[refusal.status] ?? 'Error'}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'Connection: close',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
    socket.destroySoon() // ending alone would leave it open for as long as the other side likes
  }
}

function refusalOf(code: string | undefined): AppError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new AppError('headers_too_large', 'The headers are larger than 16 KB.')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AppError('request_timeout', 'The request was not received in time.')
    default:
      return new AppError('invalid_request', 'The request is not well-formed HTTP.')
  }
}
