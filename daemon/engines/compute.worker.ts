// A thread of `compute.ts`: runs one operation at a time on what it is sent.
import { serveTasks } from '../ports/thread-side.ts'
import { saidOf, type ThreadCall, type ThreadReply } from '../ports/threads.ts'
import { operations } from './operations.ts'

async function answerTo({ name, args }: ThreadCall): Promise<ThreadReply> {
  try {
    // The caller's types tie the arguments to the operation; here the tie is lost.
    const operation = operations[name as keyof typeof operations] as (...args: readonly unknown[]) => unknown
    return { value: await operation(...args) }
  } catch (error) {
    return saidOf(error)
  }
}

serveTasks(answerTo)
