import type { Log } from '../ports/log.ts'
import { StoreMisuse } from '../store/errors.ts'

type Close = () => Promise<void> | void

/** Resources of one context, in opening order. */
export type Resources = { readonly closing: { readonly name: string; readonly close: Close }[] }

type Held = { readonly resources: Resources }

/**
 * State of a feature that lives as long as the daemon, such as a search, a queue or counters. Code imports it instead
 * of passing it around.
 */
export type Resource<T> = {
  readonly name: string
  /** @throws StoreMisuse if not opened. `daemon/app.ts` opens all resources, in order. */
  readonly of: (ctx: Held) => T
  /** Opens the resource for a context. When the daemon stops, resources close in reverse order of opening. */
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

/** Closes all resources, last first. If one fails, this is logged and the others still close. */
export async function closeResources({ resources, log }: Held & { readonly log: Log }): Promise<void> {
  for (let last = resources.closing.pop(); last; last = resources.closing.pop()) {
    try {
      await last.close()
    } catch (error) {
      log.error({ source: last.name, err: String(error) }, 'closing failed')
    }
  }
}
