// A worker thread of `compute.ts`: runs one operation at a time.
import { serveTasks } from '../ports/thread-side.ts'
import { operations } from './operations.ts'

serveTasks(({ name, args }) => {
  // `Compute.run` checks the types of the arguments, but these types are lost on the way to the worker thread.
  const operation = operations[name as keyof typeof operations] as (...args: readonly unknown[]) => unknown
  return operation(...args)
})
