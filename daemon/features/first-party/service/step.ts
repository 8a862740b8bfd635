/**
 * A part of a service that reads what strangers wrote before the rest can go on, such as the links of a page. It has a
 * name, by which a thread finds it: what goes in and comes out is copied.
 */
export type ThreadStep<Args extends readonly unknown[], Result> = {
  readonly name: string
  readonly run: (...args: Args) => Result
}

/** Runs a step away from the thread that answers everybody. @throws ThreadError, or the AppError of the step */
export type Elsewhere = <Args extends readonly unknown[], Result>(
  step: ThreadStep<Args, Result>,
  ...args: Args
) => Promise<Awaited<Result>>

const steps = new Map<string, (...args: readonly never[]) => unknown>()

export function defineStep<Args extends readonly unknown[], Result>(
  name: string,
  run: (...args: Args) => Result,
): ThreadStep<Args, Result> {
  if (steps.has(name)) throw new Error(`there are two steps ${name}`)
  steps.set(name, run as (...args: readonly never[]) => unknown) // the caller's types tie the arguments to it
  return { name, run }
}

/** Runs the step of a name, on the thread that was asked to. */
export function runStep(name: string, args: readonly unknown[]): unknown {
  const run = steps.get(name)
  if (!run) throw new Error(`there is no step ${name}`)
  return run(...(args as readonly never[])) // as `defineStep` says
}
