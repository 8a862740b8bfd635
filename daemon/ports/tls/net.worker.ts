// A worker thread of `../net-threads.ts`: runs many tasks concurrently.
import { parentPort } from 'node:worker_threads'
import type { NetMessage, NetReply } from '../net-threads.ts'
import { saidOf, type TaskReply, type ThreadCall } from '../threads.ts'
import { WebError } from '../web/error.ts'
import { type HopRequest, requestOnce } from '../web/request.ts'
import { type ShakeTask, shake, TlsError } from './handshake.ts'

const port = parentPort
const running = new Map<number, AbortController>()

port?.on('message', async (message: NetMessage) => {
  // Once its message port is closed, the worker thread exits by itself.
  if ('end' in message) return port.close()
  if ('abort' in message) return running.get(message.abort)?.abort()
  const { id } = message
  const control = new AbortController()
  running.set(id, control)
  const said = await answerTo(message, control.signal)
  running.delete(id)
  port.postMessage({ id, said } satisfies NetReply, buffersIn(said))
})

async function answerTo({ name, args: [task] }: ThreadCall, signal: AbortSignal): Promise<TaskReply> {
  try {
    // The types are those that `web.ts` and `tls.ts` send.
    if (name === 'shake') return { value: await shake(task as ShakeTask, signal) }
    const answer = await requestOnce(task as HopRequest, signal)
    return { value: { ...answer, body: new Uint8Array(answer.body) } }
  } catch (error) {
    if (!(error instanceof WebError || error instanceof TlsError)) return saidOf(error)
    return { value: { failure: error.failure, message: error.message } }
  }
}

/** Buffers to transfer to the main thread, so that bodies are not copied. */
function buffersIn(said: TaskReply): ArrayBuffer[] {
  const body = 'value' in said ? (said.value as { readonly body?: Uint8Array<ArrayBuffer> }).body : undefined
  return body ? [body.buffer] : []
}
