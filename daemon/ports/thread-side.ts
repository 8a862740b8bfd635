import { parentPort } from 'node:worker_threads'
import { lowerThread } from './priority.ts'
import { saidOf, type TaskReply, type ThreadCall, type ThreadEnd, type ThreadReply } from './threads.ts'

/** Runs a pool's tasks one by one until stopped, with lower priority than responses unless `isUrgent`. */
export function serveTasks(run: (call: ThreadCall) => unknown, isUrgent = false): void {
  if (!isUrgent) lowerThread()
  const port = parentPort
  port?.on('message', async (ask: ThreadCall | ThreadEnd) => {
    // Once its port is closed, the thread exits by itself.
    if ('end' in ask) port.close()
    else port.postMessage(await replyTo(ask, run))
  })
  port?.postMessage({ ready: true } satisfies ThreadReply)
}

async function replyTo(ask: ThreadCall, run: (call: ThreadCall) => unknown): Promise<TaskReply> {
  try {
    return { value: await run(ask) }
  } catch (error) {
    return saidOf(error)
  }
}
