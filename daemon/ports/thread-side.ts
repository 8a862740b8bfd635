import { parentPort } from 'node:worker_threads'
import { lowerThread } from './priority.ts'
import type { ThreadCall, ThreadEnd, ThreadReply } from './threads.ts'

/** Answers what a pool asks its thread, one after the other, until the pool has no more for it. */
export function serveTasks(answerTo: (ask: ThreadCall) => Promise<ThreadReply>): void {
  lowerThread()
  const port = parentPort
  port?.on('message', async (ask: ThreadCall | ThreadEnd) => {
    // Without its port nothing keeps the thread, and it ends by itself.
    if ('end' in ask) port.close()
    else port.postMessage(await answerTo(ask))
  })
  port?.postMessage({ ready: true } satisfies ThreadReply)
}
