import { AppError } from '../../src/core/error.ts'
import { firstPartyServices } from '../features/first-party/index.ts'
import type { Board, Engines } from '../features/first-party/service/engines.ts'
import type { FirstPartyService, JsonInput } from '../features/first-party/service/service.ts'
import type { Context } from '../kernel/context.ts'
import { web } from '../kernel/web.ts'
import type { PublicWeb } from '../ports/web/web.ts'
import { type Compute, compute, type WorkOrder } from './compute.ts'
import { engineBoard } from './engines.ts'
import { type FirstParties, firstParty } from './first-party.ts'

/** Opens the first-party services. The web, the worker threads and the engines must be open already. */
export function openFirstParty(ctx: Context, others?: FirstParties): void {
  const means = { web: web.of(ctx), threads: compute.of(ctx), engines: engineBoard.of(ctx), wall: ctx.clock.wall }
  firstParty.open(ctx, others ?? servicesOver(means))
}

type Means = {
  readonly web: PublicWeb
  readonly threads: Compute
  readonly engines: Board
  readonly wall: () => number
}

function servicesOver(means: Means): FirstParties {
  const { web, engines } = means
  return (slug) => {
    const service = firstPartyServices.get(slug)
    return (
      service && {
        lacking: () => engines.lacking(service.needs),
        check: (input) =>
          service.check(input as JsonInput, {
            web,
            engines: { ...neededBy(service, engines), ...thereOf(service, engines) },
          }), // JSON as it was sent
        run: (input, signal, order) => runHere(service, means, { input: input as JsonInput, signal, order }), // the same
      }
    )
  }
}

function neededBy({ needs }: FirstPartyService, { ports }: Board): Partial<Engines> {
  return Object.fromEntries(needs.map((name) => [name, ports[name]]))
}

function thereOf({ needs, wants }: FirstPartyService, engines: Board): Partial<Engines> {
  const there = [...needs, ...wants].filter((name) => engines.lacking([name]).length === 0)
  return Object.fromEntries(there.map((name) => [name, engines.ports[name]]))
}

/** Runs a service. A job may start before the engines were first checked, so this waits for that check. */
async function runHere(
  service: FirstPartyService,
  { web, threads, engines, wall }: Means,
  { input, signal, order }: { readonly input: JsonInput; readonly signal: AbortSignal; readonly order: WorkOrder },
) {
  const { needs } = service
  const { who } = order
  await engines.ready
  await threads.unpaid.refuse(who)
  let ranMs = 0
  const onRan = (ms: number) => {
    ranMs += ms
  }
  try {
    const made = await service.run(input, signal, {
      web,
      who,
      now: wall,
      engines: thereOf(service, engines),
      onThread: async ({ name, args }, bounds) => threads.run(name, args as never, { who, signal: bounds, onRan }), // of that name
    })
    threads.unpaid.remember(order, ranMs)
    return made
  } catch (error) {
    await threads.unpaid.add(who, ranMs)
    if (error instanceof AppError && error.code !== 'input_invalid') engines.suspect(needs)
    throw error
  }
}
