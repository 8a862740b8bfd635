// A worker thread of `compute.ts`: runs one operation at a time.
import { serveTasks } from '../ports/thread-side.ts'
import { saidOf, type ThreadCall, type ThreadReply } from '../ports/threads.ts'
import { operations } from './operations.ts'

async function answerTo({ name, args }: ThreadCall): Promise<ThreadReply> {
  try {
    // `Compute.run` checks the types of the arguments, but these types are lost on the way to the worker thread.
    const operation = operations[name as keyof typeof operations] as (...args: readonly unknown[]) => unknown
    return { value: await operation(...args) }
  } catch (error) {
    return saidOf(error)
  }
}

serveTasks(answerTo)
