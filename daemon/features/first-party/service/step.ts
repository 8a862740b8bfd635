/**
 * A named part of a service that parses untrusted text on a worker thread before the service continues. Arguments and
 * result are copied.
 */
export type ThreadStep<Args extends readonly unknown[], Result> = {
  readonly name: string
  readonly run: (...args: Args) => Result
}

/** Runs a step off the main thread. @throws ThreadError, or the AppError of the step */
export type Elsewhere = <Args extends readonly unknown[], Result>(
  step: ThreadStep<Args, Result>,
  ...args: Args
) => Promise<Awaited<Result>>

const steps = new Map<string, (...args: readonly never[]) => unknown>()

export function defineStep<Args extends readonly unknown[], Result>(
  name: string,
  run: (...args: Args) => Result,
): ThreadStep<Args, Result> {
  if (steps.has(name)) throw new Error(`duplicate step ${name}`)
  steps.set(name, run as (...args: readonly never[]) => unknown) // the caller's types tie the arguments to it
  return { name, run }
}

/** Runs a step by name; called on the worker thread. */
export function runStep(name: string, args: readonly unknown[]): unknown {
  const run = steps.get(name)
  if (!run) throw new Error(`unknown step ${name}`)
  return run(...(args as readonly never[])) // as `defineStep` says
}
