// A worker thread of `tls.ts`.
import { serveTasks } from '../thread-side.ts'
import { saidOf, type ThreadReply } from '../threads.ts'
import { type Shaken, type ShakeTask, shake, TlsError } from './handshake.ts'

serveTasks(async ({ args }): Promise<ThreadReply> => {
  const [task] = args as readonly [ShakeTask] // as `tls.ts` sends it
  try {
    return { value: (await shake(task)) satisfies Shaken }
  } catch (error) {
    if (!(error instanceof TlsError)) return saidOf(error)
    return { value: { failure: error.failure, message: error.message } satisfies Shaken }
  }
})
