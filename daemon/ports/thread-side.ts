import { parentPort } from 'node:worker_threads'
import { lowerThread } from './priority.ts'
import type { ThreadCall, ThreadEnd, ThreadReply } from './threads.ts'

/** Runs a pool's tasks one by one until stopped. */
export function serveTasks(answerTo: (ask: ThreadCall) => Promise<ThreadReply>): void {
  lowerThread()
  const port = parentPort
  port?.on('message', async (ask: ThreadCall | ThreadEnd) => {
    // Once its port is closed, the thread exits by itself.
    if ('end' in ask) port.close()
    else port.postMessage(await answerTo(ask))
  })
  port?.postMessage({ ready: true } satisfies ThreadReply)
}
