import type { Log } from '../ports/log.ts'
import { StoreMisuse } from '../store/errors.ts'

type Close = () => Promise<void> | void

/** What was opened for one context, in this order. */
export type Resources = { readonly closing: { readonly name: string; readonly close: Close }[] }

type Held = { readonly resources: Resources }

/**
 * Something of one feature that is open for as long as the daemon runs: a search, a queue, counts in memory. Whoever
 * needs it names it by its import, so that nothing hands around what only some use.
 */
export type Resource<T> = {
  readonly name: string
  /** @throws StoreMisuse where it was not opened: `daemon/app.ts` does that, in order. */
  readonly of: (ctx: Held) => T
  /** Opens it for a context; `close` is called when the daemon stops, after those that were opened later. */
  readonly open: (ctx: Held, value: T, close?: Close) => T
}

export function defineResource<T>(name: string): Resource<T> {
  const opened = new WeakMap<Resources, { readonly value: T }>()
  return {
    name,
    of({ resources }) {
      const found = opened.get(resources)
      if (!found) throw new StoreMisuse(`${name} is not open here: open it in daemon/app.ts`)
      return found.value
    },
    open({ resources }, value, close) {
      if (opened.has(resources)) throw new StoreMisuse(`${name} is open already`)
      opened.set(resources, { value })
      if (close) resources.closing.push({ name, close })
      return value
    },
  }
}

/**
 * Closes what was opened, last first. One that fails, such as a last write to a full disk, is logged and keeps none of
 * the others open.
 */
export async function closeResources({ resources, log }: Held & { readonly log: Log }): Promise<void> {
  for (let last = resources.closing.pop(); last; last = resources.closing.pop()) {
    try {
      await last.close()
    } catch (error) {
      log.error({ source: last.name, err: String(error) }, 'closing failed')
    }
  }
}
